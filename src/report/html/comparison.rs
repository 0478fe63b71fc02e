//! What the page of a comparison shows.

use serde::Serialize;

use crate::audit::Verdict;
use crate::compare::{Comparison, Differences};
use crate::report::compare::{self, headings};
use crate::report::compare_plots::{COMPARISON_PLOTS, comparison_plots};
use crate::report::document::Block;
use crate::report::html::content::compact;
use crate::report::html::name::Name;
use crate::report::log_names::log_names;
use crate::report::short::comparison::{rows, sentences};
use leakgauge_plot::{Picture, clean};

/// All of the page.
#[derive(Serialize)]
pub struct Content {
    style: String,
    script: String,
    version: &'static str,
    tool: String,
    title: String,
    class: &'static str,
    word: &'static str,
    sentence: String,
    about: String,
    header: Vec<&'static str>,
    rows: Vec<Vec<Name>>,
    /// What stands below the table.
    sentences: Vec<String>,
    picture: Option<Drawn>,
    sections: Vec<Section>,
    command: String,
    seed: u64,
}

/// A heading with what is under it.
#[derive(Serialize)]
struct Section {
    heading: String,
    pictures: Vec<Drawn>,
    blocks: Vec<Block>,
}

#[derive(Serialize)]
struct Drawn {
    svg: String,
    caption: &'static str,
}

/// The first screen: a word, and a sentence that goes on from it.
struct Headline {
    class: &'static str,
    word: &'static str,
    sentence: String,
}

impl Content {
    pub fn new(found: &Comparison, command: &str) -> Content {
        let Headline {
            class,
            word,
            sentence,
        } = headline(found);
        let (about, header, rows) = rows(found);
        let rows = rows
            .into_iter()
            .map(|row| row.iter().map(|cell| Name::new(cell)).collect());
        let mut drawn = comparison_plots(found);
        let picture = opening(found, &mut drawn);
        Content {
            style: compact(include_str!("style.css")),
            script: compact(include_str!("page.js")),
            version: found.tool.version,
            tool: format!("{} {}", found.tool.name, found.tool.version),
            title: format!("{} logs compared", found.logs.len()),
            class,
            word,
            sentence,
            about: clean(&about),
            header,
            rows: rows.collect(),
            sentences: sentences(found).iter().map(|text| clean(text)).collect(),
            picture,
            sections: sections(found, drawn),
            command: clean(command),
            seed: found.seed,
        }
    }
}

/// The worst verdict; without mechanisms, which way the leakage goes.
fn headline(found: &Comparison) -> Headline {
    let verdicts: Vec<Verdict> = found.logs.iter().filter_map(|log| log.verdict).collect();
    let count = |verdict| verdicts.iter().filter(|one| **one == verdict).count();
    let all = verdicts.len();
    let headline = |class, word, sentence| Headline {
        class,
        word,
        sentence,
    };
    if count(Verdict::Violated) > 0 {
        let violated = count(Verdict::Violated);
        let sentence = format!("{violated} of {all} logs leak more than their mechanism allows");
        return headline("violated", "Violated", sentence);
    }
    if all > 0 && count(Verdict::Holds) == all {
        let sentence = format!("{all} of {all} logs leak no more than their mechanism allows");
        return headline("holds", "Holds", sentence);
    }
    if all > 0 {
        let open = count(Verdict::Inconclusive);
        let sentence =
            format!("{open} of {all} logs neither show nor rule out more than is claimed");
        return headline("inconclusive", "Inconclusive", sentence);
    }
    changed(found)
}

/// Which way the leakage goes.
fn changed(found: &Comparison) -> Headline {
    let headline = |class, word, sentence| Headline {
        class,
        word,
        sentence,
    };
    let changes = |is: fn(&Differences) -> bool| found.differences.iter().filter(|d| is(d)).count();
    let less = changes(|d| {
        d.attack_vulnerability
            .difference
            .upper
            .is_some_and(|u| u < 0.0)
    });
    let more = changes(|d| {
        d.attack_vulnerability
            .difference
            .lower
            .is_some_and(|l| l > 0.0)
    });
    let all = found.differences.len();
    let names = log_names(found);
    let [first, second] = [0, 1].map(|at| names.get(at).map_or(String::new(), |name| clean(name)));
    let still = found
        .logs
        .get(1)
        .and_then(|log| log.worst_pair.total_variation.lower);
    match (less, more) {
        // Less is no more than less: while the log leaks, nothing here is green.
        (less, 0) if less == all && all == 1 && still.is_some_and(|lower| lower > 0.0) => headline(
            "unknown",
            "Less",
            format!(
                "the attack found succeeds less often in {second} than in {first}, but {second} still leaks"
            ),
        ),
        (less, 0) if less == all && all == 1 => headline(
            "holds",
            "Less",
            format!("the attack found succeeds less often in {second} than in {first}"),
        ),
        (0, more) if more == all && all == 1 => headline(
            "leaks",
            "More",
            format!("the attack found succeeds more often in {second} than in {first}"),
        ),
        (less, 0) if less == all => headline(
            "unknown",
            "Less",
            "in each log the attack found succeeds less often than in the one that it is compared with"
                .into(),
        ),
        (0, more) if more == all => headline(
            "leaks",
            "More",
            "in each log the attack found succeeds more often than in the one that it is compared with"
                .into(),
        ),
        (0, 0) => headline(
            "unknown",
            "No change is certified",
            "see the limits below".into(),
        ),
        _ => headline(
            "unknown",
            "Changes",
            format!(
                "of {all} comparisons the attack found succeeds less often in {less} and more often in {more}"
            ),
        ),
    }
}

/// Which picture belongs under which heading, and what it shows.
const PLACES: [(&str, &str, &str); 4] = [
    (
        COMPARISON_PLOTS[3],
        headings::DIFFERENCES,
        "What changed from log to log, with limits where there are any.",
    ),
    (
        COMPARISON_PLOTS[0],
        headings::WORST_PAIRS,
        "Total variation of the pair that is easiest to tell apart in each log; a curve or mark without limits is analytic.",
    ),
    (
        COMPARISON_PLOTS[1],
        headings::WORST_PAIRS,
        "Estimate minus analytic value of that pair, with limits.",
    ),
    (
        COMPARISON_PLOTS[2],
        headings::OVERALL,
        "How often the secret of a row is guessed right, with limits.",
    ),
];

/// The picture that opens the page: estimates on the analytic values, or without mechanisms the figure of the table.
fn opening(found: &Comparison, drawn: &mut Vec<Picture>) -> Option<Drawn> {
    let has_analytic = found.logs.iter().any(|log| log.analytic.is_some());
    let name = if has_analytic {
        COMPARISON_PLOTS[0]
    } else {
        COMPARISON_PLOTS[2]
    };
    let (.., caption) = PLACES.iter().find(|place| place.0 == name)?;
    let at = drawn.iter().position(|picture| picture.name == name)?;
    let svg = drawn.swap_remove(at).svg;
    Some(Drawn { svg, caption })
}

fn sections(found: &Comparison, mut drawn: Vec<Picture>) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for block in compare::document(found).into_blocks() {
        match block {
            Block::Heading(heading) => {
                let mut pictures = Vec::new();
                for (name, _, caption) in PLACES.iter().filter(|place| place.1 == heading) {
                    if let Some(at) = drawn.iter().position(|picture| picture.name == *name) {
                        let svg = drawn.swap_remove(at).svg;
                        pictures.push(Drawn { svg, caption });
                    }
                }
                sections.push(Section {
                    heading,
                    pictures,
                    blocks: Vec::new(),
                });
            }
            // What stands before the first heading is the header's.
            block => {
                if let Some(section) = sections.last_mut() {
                    section.blocks.push(block);
                }
            }
        }
    }
    sections
}
