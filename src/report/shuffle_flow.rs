//! Reports of mutual information and vulnerability in the shuffle model.

use super::document::Document;
use crate::report::numbers::{plain_above, plain_below, plain_exact};
use leakgauge_base::grammar::format_number;
use leakgauge_base::naming::setting;
use leakgauge_exact::shuffle::information::{
    Figure, InputPosition, LabelProbability, MonteCarlo, Posterior, RandomizerSurvey, Survey,
    UsersSurvey,
};
use leakgauge_exact::shuffle::vulnerability::{MechanismSurvey, Survey as VulnerabilitySurvey};

/// Digits of exact figures.
const LONG: i32 = 7;

/// The largest number of labels that are listed.
const LISTED: usize = 40;

/// The report about a target among decoys.
pub(super) fn information(survey: &Survey) -> Document {
    let mut document = Document::default();
    document.heading("Mutual information with the shuffled messages, in nats");
    let simulated = survey
        .rows
        .iter()
        .any(|row| row.position.monte_carlo.is_some());
    let mut header = vec!["n", "position", "asymptotic", "message", "asymptotic"];
    if simulated {
        header.extend(["position, simulated", "message, simulated"]);
    }
    // An expansion outside the possible range is meaningless: there are too few messages.
    let expansion = |x: f64, most: f64| {
        let possible = (-1e-9..=most * (1.0 + 1e-9)).contains(&x);
        if possible {
            six(Some(x))
        } else {
            "n/a".to_owned()
        }
    };
    let both =
        |figure: &Figure, most| [six(Some(figure.exact)), expansion(figure.asymptotic, most)];
    let line = |row: &leakgauge_exact::shuffle::information::Row| {
        let figures = both(&row.position, (row.n as f64).ln())
            .into_iter()
            .chain(both(&row.message, survey.entropy));
        let simulations = [row.position, row.message].map(|figure| figure.monte_carlo);
        let simulations = simulations.into_iter().flatten().map(estimate);
        [row.n.to_string()]
            .into_iter()
            .chain(figures)
            .chain(simulations)
            .collect()
    };
    if !survey.rows.is_empty() {
        document.table(header, 0, survey.rows.iter().map(line).collect());
    }
    about_messages(&mut document, survey);
    if let Some(seen) = &survey.posteriors {
        document.paragraph("What the observed messages tell about the target:");
        let line = |one: &Posterior| {
            vec![
                one.label.clone(),
                one.count.to_string(),
                six(Some(one.message)),
                six(Some(one.position)),
            ]
        };
        document.table(
            vec!["message", "count", "sent by the target", "each position"],
            1,
            seen.iter().take(LISTED).map(line).collect(),
        );
        shortened(&mut document, seen.len());
    }
    if let Some(best) = &survey.best_decoys {
        document.paragraph("The optimal decoys for hiding the message (for hiding its position, the target's own distribution is optimal):");
        list(&mut document, best);
    }
    document
}

fn about_messages(document: &mut Document, survey: &Survey) {
    let falls = match survey.coefficient {
        Some(coefficient) => format!(
            "the information decreases as {}/2n, with optimal decoys as",
            six(Some(coefficient))
        ),
        None => {
            "the information does not decrease to 0; with optimal decoys it decreases as".to_owned()
        }
    };
    document.paragraph(format!(
        "The message has entropy {}; {falls} {}/2n. Asymptotic values are expansions to order 1/n, not bounds.",
        six(Some(survey.entropy)),
        six(Some(survey.best_coefficient)),
    ));
    if survey
        .rows
        .iter()
        .any(|row| row.message.asymptotic > survey.entropy || row.position.asymptotic < 0.0)
    {
        document.paragraph("n/a: the expansion is not valid for so few messages.");
    }
    if survey.revealed > 0.0 {
        document.paragraph(format!(
            "With probability {} the target sends a message that no decoy sends. The message and its position are then known with any number of decoys.",
            six(Some(survey.revealed))
        ));
    }
}

fn list(document: &mut Document, law: &[LabelProbability]) {
    let line = |entry: &LabelProbability| vec![entry.label.clone(), six(Some(entry.probability))];
    document.table(
        vec!["label", "probability"],
        1,
        law.iter().take(LISTED).map(line).collect(),
    );
    shortened(document, law.len());
}

fn shortened(document: &mut Document, all: usize) {
    if all > LISTED {
        document.paragraph(format!(
            "… {all} in all; {} lists all of them.",
            setting("format", "json")
        ));
    }
}

/// The report about a randomizer before a shuffler.
pub(super) fn randomizer(survey: &RandomizerSurvey) -> Document {
    let mut document = Document::default();
    document.heading(format!(
        "Mutual information between an input and the shuffled messages, in nats: {}",
        survey.randomizer
    ));
    if !survey.rows.is_empty() {
        let header = vec![
            "n",
            "exact",
            "asymptotic",
            "any other inputs, at most",
            "its leading term",
            "any randomizer",
            "position at most",
            "by the blanket",
        ];
        let line = |row: &leakgauge_exact::shuffle::information::RandomizerRow| {
            let input = &row.input;
            let figures = [
                Some(input.exact),
                input.asymptotic,
                Some(input.blanket),
                input.blanket_asymptotic,
                input.unified,
                row.position_bound,
                row.position_blanket,
            ];
            [row.n.to_string()]
                .into_iter()
                .chain(figures.map(six))
                .collect()
        };
        document.table(header, 0, survey.rows.iter().map(line).collect());
        document.paragraph("Exact: the other users' inputs are independent and have the same distribution. Any other inputs: the bound from the randomizer's blanket, which holds for any inputs of the other users, also dependent ones. Any randomizer: (e^ε − 1)/2n, the leading term of a bound for all ε-private ones.");
    }
    document.paragraph(format!(
        "ε = {}; the blanket has mass γ = {}.",
        six(survey.epsilon),
        six(Some(survey.gamma))
    ));
    if let Some(informed) = survey.informed {
        document.paragraph(format!(
            "An adversary who knows how many other users have each input learns {}.",
            six(Some(informed))
        ));
    }
    if let Some(positions) = &survey.positions {
        document.paragraph(format!(
            "The same adversary, who also knows the target's input, learns about the position of its message, whatever the other users' inputs are at most {}:",
            six(survey.position_bound)
        ));
        let line = |one: &InputPosition| {
            vec![
                one.input.clone(),
                one.n.to_string(),
                six(Some(one.position)),
            ]
        };
        document.table(
            vec!["input", "n", "position"],
            1,
            positions.iter().map(line).collect(),
        );
    }
    document
}

/// The report about users with different distributions.
pub(super) fn users(survey: &UsersSurvey) -> Document {
    let mut document = Document::default();
    document.heading(format!(
        "Mutual information with {} shuffled messages with different distributions, in nats",
        survey.n
    ));
    let unknown = |figure: Option<f64>| {
        figure.map_or_else(|| "n/a (too many histograms)".to_owned(), |x| six(Some(x)))
    };
    let rows = vec![
        vec![
            "position".to_owned(),
            unknown(survey.position),
            six(survey.position_bound),
        ],
        vec![
            "message".to_owned(),
            unknown(survey.message),
            six(Some(survey.message_bound)),
        ],
        vec![
            "message, without outliers".to_owned(),
            String::new(),
            six(Some(survey.message_bound_without_outliers)),
        ],
    ];
    document.table(vec!["about", "exact", "at most"], 1, rows);
    if survey.outliers.is_empty() {
        document.paragraph("Omitting users does not lower the bound.");
    } else {
        document.paragraph(format!("Outliers: {}.", survey.outliers.join(", ")));
    }
    document.paragraph("The blanket of the other users:");
    list(&mut document, &survey.blanket);
    document
}

/// The report about randomized response over equally likely values.
pub(super) fn vulnerability(survey: &VulnerabilitySurvey) -> Document {
    let mut document = Document::default();
    document.heading("Probability of guessing one user's value");
    let header = vec![
        "values",
        "keep",
        "n",
        "prior",
        "noise",
        "shuffle",
        "noise and shuffle",
        "asymptotic",
        "leading term",
    ];
    let line = |row: &leakgauge_exact::shuffle::vulnerability::Row| {
        let figures = [
            Some(row.prior),
            Some(row.noise),
            row.shuffle,
            row.noise_and_shuffle,
            Some(row.asymptotic),
            Some(row.leading_term),
        ];
        [
            row.values.to_string(),
            format_number(row.keep),
            row.n.to_string(),
        ]
        .into_iter()
        .chain(figures.map(long))
        .collect()
    };
    document.table(header, 0, survey.rows.iter().map(line).collect());
    document.paragraph("Exact for uniform, independent values and an adversary without other knowledge. Asymptotic: 1/k + √(ln k/kn)·(kp − 1)/(k − 1), with the constant of the paper; leading term: with the exact constant for this k. Neither is a bound.");
    let between = |row: &leakgauge_exact::shuffle::vulnerability::Row| {
        let (shuffle, both) = (row.shuffle_limits?, row.noise_and_shuffle_limits?);
        let mut line = vec![
            row.values.to_string(),
            format_number(row.keep),
            row.n.to_string(),
        ];
        line.extend([
            plain_below(shuffle.lower, LONG),
            plain_above(shuffle.upper, LONG),
            plain_below(both.lower, LONG),
            plain_above(both.upper, LONG),
        ]);
        Some(line)
    };
    let limited: Vec<Vec<String>> = survey.rows.iter().filter_map(between).collect();
    if !limited.is_empty() {
        document.paragraph(
            "For these rows, shuffle and noise and shuffle are an expansion between proven limits:",
        );
        let header = vec![
            "values",
            "keep",
            "n",
            "shuffle, at least",
            "at most",
            "noise and shuffle, at least",
            "at most",
        ];
        document.table(header, 0, limited);
    }
    if survey.rows.iter().any(|row| row.shuffle.is_none()) {
        document.paragraph(
            "n/a: computing the exact value would take minutes; the leading term is close to it.",
        );
    }
    document
}

/// The report about a randomizer and a prior.
pub(super) fn mechanism(survey: &MechanismSurvey) -> Document {
    let mut document = Document::default();
    document.heading(format!(
        "Probability of guessing one user's value: {}",
        survey.randomizer
    ));
    if !survey.rows.is_empty() {
        let line = |row: &leakgauge_exact::shuffle::vulnerability::MechanismRow| {
            let exact = match (row.noise_and_shuffle, row.limits) {
                (Some(exact), _) => long(Some(exact)),
                (None, Some(limits)) => {
                    format!(
                        "{} to {}",
                        long(Some(limits.lower)),
                        long(Some(limits.upper))
                    )
                }
                (None, None) if row.monte_carlo.is_some() => "simulated".to_owned(),
                (None, None) => "n/a".to_owned(),
            };
            let drawn = row.monte_carlo.map_or_else(String::new, estimate);
            vec![
                row.n.to_string(),
                long(Some(row.prior)),
                long(Some(row.noise)),
                exact,
                drawn,
            ]
        };
        let header = vec!["n", "prior", "noise", "noise and shuffle", "simulated"];
        document.table(header, 0, survey.rows.iter().map(line).collect());
    }
    let errors = survey.rows.iter().filter_map(|row| row.cell_error);
    if let Some(error) = errors.reduce(f64::max) {
        document.paragraph(format!(
            "Simulated messages are counted in cells. Cells hide at most {} of the vulnerability in any row, usually far \
             less.",
            format_number(round(error, 1))
        ));
    }
    if let Some(informed) = survey.informed {
        document.paragraph(format!(
            "An adversary who knows how many of the {} other users have each value guesses right with probability {}{}.",
            informed.n - 1,
            long(Some(informed.vulnerability)),
            match informed.error {
                error if error > 1e-10 => {
                    format!(", which may be wrong by {}", format_number(round(error, 1)))
                }
                _ => String::new(),
            }
        ));
    }
    document
}

fn estimate(found: MonteCarlo) -> String {
    format!(
        "{} ± {}",
        six(Some(found.mean)),
        format_number(round(found.standard_error, 1))
    )
}

fn six(figure: Option<f64>) -> String {
    figure.map_or_else(|| "infinite".to_owned(), |x| format_number(round(x, 5)))
}

fn long(figure: Option<f64>) -> String {
    figure.map_or_else(|| "n/a".to_owned(), |x| plain_exact(x, LONG))
}

fn round(x: f64, digits: usize) -> f64 {
    format!("{x:.digits$e}").parse().unwrap_or(x)
}
