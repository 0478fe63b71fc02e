//! The report page in a browser.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use crate::common::Place;

const BROWSERS: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

/// What a page of this width says of itself, and what the browser's console says.
struct Seen {
    findings: serde_json::Value,
    console: String,
}

fn browser() -> Option<&'static str> {
    BROWSERS.into_iter().find(|name| {
        Command::new(name)
            .arg("--version")
            .output()
            .is_ok_and(|found| found.status.success())
    })
}

/// Looks at a page from a frame of a width, the page itself untouched.
fn look(browser: &str, directory: &Path, width: u32, dark: bool) -> Seen {
    let page = std::fs::read_to_string(directory.join("page.html")).unwrap();
    let escaped = page.replace('&', "&amp;").replace('"', "&quot;");
    let frame = format!(
        "<!DOCTYPE html><meta charset=\"utf-8\"><body style=\"margin:0\"><iframe id=\"page\" \
         style=\"border:0;width:{width}px;height:760px\" srcdoc=\"{escaped}\"></iframe><script>{}</script>",
        include_str!("look.js")
    );
    let file = directory.join(format!("frame-{width}-{dark}.html"));
    std::fs::write(&file, frame).unwrap();
    let profile = directory.join("profile");
    let found = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--enable-logging=stderr",
            "--dump-dom",
        ])
        .arg("--virtual-time-budget=10000")
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!(
            "--blink-settings=preferredColorScheme={}",
            u8::from(!dark)
        ))
        .arg(format!("file://{}", file.display()))
        .output()
        .unwrap();
    let dom = String::from_utf8_lossy(&found.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&found.stderr).into_owned();
    let json = dom
        .split_once("<pre id=\"findings\">")
        .and_then(|(_, rest)| rest.split_once("</pre>"))
        .unwrap_or_else(|| panic!("no findings: {stderr}"));
    let console: Vec<&str> = stderr
        .lines()
        .filter(|line| line.contains("CONSOLE"))
        .collect();
    Seen {
        findings: serde_json::from_str(
            &json
                .0
                .replace("&lt;", "<")
                .replace("&gt;", ">")
                .replace("&amp;", "&"),
        )
        .unwrap(),
        console: console.join("\n"),
    }
}

/// Four secrets, one with a long name that is markup.
fn log() -> String {
    let long = format!("<script>{}</script>", "long".repeat(45));
    let labels = ["a", "b", "c", &long];
    let mut csv = String::from("secret,time,kind\n");
    for at in 0..2000_usize {
        let secret = at * 7919 % 4;
        let time = at * 31 % 97 + 11 * secret;
        writeln!(csv, "{},{time},k{}", labels[secret], at % 3).unwrap();
    }
    csv
}

pub fn trial() -> libtest_mimic::Trial {
    let name = "the_page_is_read_on_a_phone_in_the_dark_and_sorts";
    super::trial(name, browser().is_some(), the_page_is_read)
}

fn the_page_is_read() {
    let browser = browser().unwrap_or_else(|| panic!("none of {BROWSERS:?} is installed"));
    let place = Place::with_log(log());
    let arguments = [
        "audit",
        "log.csv",
        "--claim",
        "advantage(0.1)",
        "--scorer",
        "knn",
        "--html",
        "page.html",
    ];
    let found = place.run(&arguments);
    assert_eq!(
        found.status.code(),
        Some(1),
        "{}",
        String::from_utf8_lossy(&found.stderr)
    );
    for (width, dark) in [(380, true), (380, false), (1280, true), (1280, false)] {
        let Seen { findings, console } = look(browser, place.path(), width, dark);
        let case = format!("{width} px, dark {dark}: {findings}");
        assert!(console.is_empty(), "{case}\n{console}");
        assert_eq!(findings["dark"], dark, "{case}");
        assert!(
            findings["scrollWidth"].as_f64() <= Some(f64::from(width)),
            "{case}"
        );
        assert!(findings["firstScreen"].as_f64() <= Some(760.0), "{case}");
        assert_eq!(findings["lowContrast"], serde_json::json!([]), "{case}");
        assert_eq!(findings["unsorted"], serde_json::json!([]), "{case}");
        assert!(
            findings["texts"].as_u64() > Some(50) && findings["buttons"].as_u64() >= Some(6),
            "{case}"
        );
    }
}
