// SPDX-License-Identifier: LGPL-2.1-or-later
//! tdlfilter from Rust, by the element's name: a property that changes while frames flow,
//! the element's messages, and its statistics.
//!
//!     cargo run -- [PROPERTY=VALUE...]
//!     SRC="v4l2src ! videoconvert" SINK=autovideosink cargo run -- blur-radius=30
//!
//! The mode changes every thirty frames, unless mode=… is given. GStreamer looks for the
//! plugin in GST_PLUGIN_PATH, which `meson devenv -C build` sets.
use gst::prelude::*;
use gstreamer as gst;
use std::error::Error;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};

const MODES: [&str; 3] = ["overlay", "blur", "replace"]; // their frames have the same format

/// As gst-launch-1.0 reads it; a wrong one is an error, not a panic.
fn set(element: &gst::Element, name: &str, text: &str) -> Result<(), Box<dyn Error>> {
    let pspec = element
        .find_property(name)
        .ok_or_else(|| format!("tdlfilter has no property {name}"))?;
    let value = gst::glib::Value::deserialize_with_pspec(text, &pspec)
        .map_err(|_| format!("{name} cannot be '{text}'"))?;
    element.set_property_from_value(name, &value);
    Ok(())
}

fn play(settings: &[String]) -> Result<(), Box<dyn Error>> {
    let from = std::env::var("SRC").unwrap_or_else(|_| "videotestsrc num-buffers=90".into());
    let to = std::env::var("SINK").unwrap_or_else(|_| "fakesink".into());
    let line = format!("{from} ! tdlfilter name=filter ! videoconvert ! {to}");
    let pipeline = gst::parse::launch(&line)?
        .downcast::<gst::Pipeline>()
        .map_err(|_| "the line is no pipeline")?;
    let filter = pipeline
        .by_name("filter")
        .ok_or("no element is named filter")?;
    for setting in settings {
        let (name, value) = setting
            .split_once('=')
            .ok_or_else(|| format!("'{setting}' is no PROPERTY=VALUE"))?;
        set(&filter, name, value)?;
    }
    if !settings.iter().any(|setting| setting.starts_with("mode=")) {
        change_modes(&filter)?;
    }
    let started = pipeline.set_state(gst::State::Playing);
    // What is wrong with a pipeline that does not start is on its bus already.
    let patience = started.is_err().then_some(gst::ClockTime::ZERO);
    let ended = listen(&pipeline, &filter, patience).and(started.map_err(Into::into));
    println!("{}", filter.property::<gst::Structure>("stats"));
    pipeline.set_state(gst::State::Null)?;
    ended.map(|_| ())
}

/// On the stream's own thread, with the frame that comes next: short, or the stream waits.
fn change_modes(filter: &gst::Element) -> Result<(), Box<dyn Error>> {
    let frames = AtomicUsize::new(0);
    let element = filter.downgrade();
    filter.static_pad("sink").ok_or("no sink pad")?.add_probe(
        gst::PadProbeType::BUFFER,
        move |_, _| {
            let frame = frames.fetch_add(1, Ordering::Relaxed);
            if let (0, Some(filter)) = (frame % 30, element.upgrade()) {
                let mode = MODES[frame / 30 % MODES.len()];
                filter.set_property_from_str("mode", mode);
                println!("frame {frame}: mode {mode}");
            }
            gst::PadProbeReturn::Ok
        },
    );
    Ok(())
}

/// Until the stream ends: the element's messages are structures whose names begin with tdl-.
fn listen(
    pipeline: &gst::Pipeline,
    filter: &gst::Element,
    patience: Option<gst::ClockTime>,
) -> Result<(), Box<dyn Error>> {
    let bus = pipeline.bus().ok_or("no bus")?;
    for message in bus.iter_timed(patience) {
        match message.view() {
            gst::MessageView::Eos(_) => break,
            gst::MessageView::Error(error) => return Err(error.error().into()),
            gst::MessageView::Warning(warning) => eprintln!("{}", warning.error()),
            gst::MessageView::Element(told) if message.src() == Some(filter.upcast_ref()) => {
                if let Some(structure) = told.structure() {
                    println!("{structure}");
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    let settings: Vec<String> = std::env::args().skip(1).collect();
    match gst::init()
        .map_err(Into::into)
        .and_then(|()| play(&settings))
    {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tdlfilter-live: {error}");
            ExitCode::FAILURE
        }
    }
}
