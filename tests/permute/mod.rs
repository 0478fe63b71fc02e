//! `permute`: what is written, what is refused, and that nothing is half-written; the claim about shufflers.

mod claim;
mod command;
mod figures;
mod refused;

use crate::common::Place;

/// A value of its own for every row, on a line.
fn line(rows: usize) -> String {
    let mut text = "name,x,illness\n".to_owned();
    for row in 0..rows {
        text.push_str(&format!("n{row},{},v{row}\n", row as f64 / 10.0));
    }
    text
}

const SHUFFLE: [&str; 13] = [
    "permute",
    "log.csv",
    "--out",
    "out.csv",
    "--move",
    "illness",
    "--groups",
    "distance",
    "--by",
    "x",
    "--radius",
    "0.5",
    "--alpha=1",
];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let mut all: Vec<&str> = SHUFFLE.to_vec();
    all.extend(more);
    all
}

fn read(place: &Place, name: &str) -> String {
    std::fs::read_to_string(place.path().join(name)).expect(name)
}

fn files(place: &Place) -> Vec<String> {
    let all = std::fs::read_dir(place.path()).unwrap();
    let mut names: Vec<String> = all
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
