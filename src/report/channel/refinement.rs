//! How a channel relates to another one, and why it does not refine it.

use super::number::number;
use crate::report::document::Document;
use leakgauge_exact::channel::Refinement;

/// The largest number of secrets of a gain that is printed.
const LISTED: usize = 20;
/// The columns of a gain that is printed.
const GUESSES: [&str; 8] = [
    "guess 1", "guess 2", "guess 3", "guess 4", "guess 5", "guess 6", "guess 7", "guess 8",
];

/// The sentence that says whether one refines the other.
pub(super) fn refined(found: &Refinement) -> String {
    let other = &found.other;
    let deficient = |deficiency| {
        format!(
            "the best imitation misses a row by a total variation of {}",
            number(deficiency)
        )
    };
    match (found.refines, found.refined_by) {
        (true, true) => format!(
            "The channel and {other} are equivalent: each can be computed from the other's observation, so they leak \
             the same under every prior and every gain."
        ),
        (true, false) => format!(
            "The channel refines {other}: its observation can be computed from that of {other}, so it leaks at most as \
             much under every prior and every gain. The converse fails: {}.",
            deficient(found.deficiency_back)
        ),
        (false, true) => format!(
            "The channel does not refine {other}, which refines it: {other} leaks at most as much under every prior and \
             every gain. From {other}, {}.",
            deficient(found.deficiency)
        ),
        (false, false) => format!(
            "Neither refines the other: under some prior and gain the channel leaks more than {other}, under another one \
             less. From {other}, {}; the other way around, {}.",
            deficient(found.deficiency),
            number(found.deficiency_back)
        ),
    }
}

/// The prior and the gain under which the channel leaks more.
pub(super) fn witness(document: &mut Document, found: &Refinement, secrets: &[String]) {
    if found.refines {
        return;
    }
    let other = &found.other;
    document.heading(format!("Where the channel leaks more than {other}"));
    let Some(witness) = &found.witness else {
        document.paragraph(format!(
            "Some prior and gain tell them apart, but by less than double precision can show: with gains between 0 and 1 \
             by {}.",
            number(found.deficiency)
        ));
        return;
    };
    document.paragraph(format!(
        "Under this prior and this gain an attacker of the channel gains {} on average, an attacker of {other} at most \
         {}, and one who observes nothing {}.",
        number(witness.vulnerability),
        number(witness.other_vulnerability),
        number(witness.prior_vulnerability)
    ));
    let guesses = witness.gain.len();
    if secrets.len() > LISTED || guesses > GUESSES.len() {
        document.paragraph(format!(
            "The gain has {guesses} guesses for {} secrets; JSON has it whole.",
            secrets.len()
        ));
        return;
    }
    let mut header = vec!["secret", "prior"];
    header.extend(&GUESSES[..guesses]);
    let secrets = secrets.iter().zip(&witness.prior).enumerate();
    let row = |(at, (secret, prior)): (usize, (&String, &f64))| {
        let gains = witness.gain.iter().map(|guess| guess[at]);
        let numbers = std::iter::once(*prior).chain(gains).map(number);
        std::iter::once(secret.clone()).chain(numbers).collect()
    };
    document.table(header, 1, secrets.map(row).collect());
}
