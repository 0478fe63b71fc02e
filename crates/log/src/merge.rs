//! Secrets that are joined by rules fixed before the log was taken: `0..3=few,4..=many`.

use hashbrown::HashMap;

use crate::source::{self, ReadMeter};
use leakgauge_base::error::{Error, Place, Result, listing, shorten};
use leakgauge_base::naming::{option, setting};

/// Which secrets become one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SecretRules {
    rules: Vec<Rule>,
    /// The rule of a label, where a file gives it.
    by_label: HashMap<String, usize>,
}

/// One rule: what it joins, and the label that it gives.
#[derive(Debug, Clone, PartialEq)]
struct Rule {
    /// As it was written.
    text: String,
    joined: Vec<Part>,
    to: String,
}

/// What a rule joins.
#[derive(Debug, Clone, PartialEq)]
enum Part {
    /// A label.
    Label(String),
    /// Numbers from one to another, both included.
    Range(f64, f64),
    /// What no other rule names.
    Others,
}

impl Part {
    fn parse(text: &str) -> std::result::Result<Self, String> {
        let text = text.trim();
        let Some((from, to)) = text.split_once("..") else {
            return match text {
                "" => Err("names no secret before `=`".to_owned()),
                "*" => Ok(Part::Others),
                label => Ok(Part::Label(label.to_owned())),
            };
        };
        let end = |text: &str, open: f64| match text.trim() {
            "" => Ok(open),
            number => number
                .parse::<f64>()
                .ok()
                .filter(|value| value.is_finite())
                .ok_or_else(|| format!("{number:?} is no number, as an end of a range must be")),
        };
        let (from, to) = (end(from, f64::NEG_INFINITY)?, end(to, f64::INFINITY)?);
        if from > to {
            return Err(format!("the range {text:?} is empty"));
        }
        Ok(Part::Range(from, to))
    }

    fn holds(&self, label: &str) -> bool {
        match self {
            Part::Label(own) => own == label,
            Part::Range(from, to) => label
                .parse::<f64>()
                .is_ok_and(|value| (*from..=*to).contains(&value)),
            Part::Others => false,
        }
    }
}

impl SecretRules {
    /// Reads rules: `0..3=few,4..=many`, `a|b=either`, `admin=admin,*=others`. Ranges are of numbers and include both ends;
    /// `*` is what no other rule names.
    ///
    /// ```
    /// use leakgauge_log::SecretRules;
    ///
    /// assert!(SecretRules::parse("0..3=few,4..=many").is_ok());
    /// assert!(SecretRules::parse("3..0=few").is_err());
    /// ```
    ///
    /// # Errors
    /// What is no rule.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = |problem: String| {
            Error::parameter(setting("merge", text), problem).with_hint(
                "write WHICH=LABEL,…, where WHICH is a label, labels between `|`, a range of numbers with both ends, or * \
                 for all that no other rule names: 0..3=few,4..=many,*=others",
            )
        };
        let mut rules = Vec::new();
        for rule in text.split(',') {
            let (which, to) = rule
                .rsplit_once('=')
                .ok_or_else(|| wrong(format!("`{rule}` has no `=`")))?;
            if to.trim().is_empty() {
                return Err(wrong(format!("`{rule}` names no label behind `=`")));
            }
            let joined = which.split('|').map(Part::parse);
            rules.push(Rule {
                text: rule.trim().to_owned(),
                joined: joined
                    .collect::<std::result::Result<_, _>>()
                    .map_err(wrong)?,
                to: to.trim().to_owned(),
            });
        }
        let of_others = |rule: &&Rule| rule.joined.contains(&Part::Others);
        if rules.iter().filter(of_others).count() > 1 {
            return Err(wrong("two rules say what becomes of all others".to_owned()));
        }
        Ok(SecretRules {
            rules,
            by_label: HashMap::new(),
        })
    }

    /// Reads rules from a file: a row is a label and what it becomes, with or without the header `from,to`.
    ///
    /// # Errors
    /// A file that cannot be read; rows that are no pair of labels; a label twice.
    pub fn read(file: &str) -> Result<Self> {
        let text = source::open(file, &ReadMeter::default())?;
        let text = source::whole_text(file, text)?;
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .trim(csv::Trim::All)
            .from_reader(&text[..]);
        let mut read = SecretRules::default();
        for (at, row) in reader.records().enumerate() {
            let place = || Place::file(file).row(at as u64 + 1);
            let row = row.map_err(|error| Error::data(place(), error.to_string()))?;
            let (Some(from), Some(to), 2) = (row.get(0), row.get(1), row.len()) else {
                let problem = format!("has {} fields where 2 are expected", row.len());
                return Err(Error::data(place(), problem)
                    .with_hint("a row is a secret and what it becomes: from,to"));
            };
            if at == 0 && (from, to) == ("from", "to") {
                continue;
            }
            if from.is_empty() || to.is_empty() {
                return Err(Error::data(place(), "has a blank label"));
            }
            if read
                .by_label
                .insert(from.to_owned(), read.rules.len())
                .is_some()
            {
                let problem = format!("says twice what becomes of {}", shorten(from));
                return Err(Error::data(place(), problem));
            }
            read.rules.push(Rule {
                text: format!("{from}={to}"),
                joined: Vec::new(),
                to: to.to_owned(),
            });
        }
        if read.rules.is_empty() {
            return Err(Error::file(file, "says of no secret what becomes of it"));
        }
        Ok(read)
    }

    /// The number of the rule of a label; `None` if it stays.
    ///
    /// # Errors
    /// A label of two rules.
    fn rule_of(&self, label: &str) -> Result<Option<usize>> {
        if !self.by_label.is_empty() {
            return Ok(self.by_label.get(label).copied());
        }
        let holds = |rule: &&(usize, &Rule)| rule.1.joined.iter().any(|part| part.holds(label));
        let rules: Vec<(usize, &Rule)> = self.rules.iter().enumerate().collect();
        let mut found = rules.iter().filter(holds);
        match (found.next(), found.next()) {
            (Some((_, one)), Some((_, other))) => Err(Error::parameter(
                setting("merge", format!("{},{}", one.text, other.text)),
                format!("two rules say what becomes of secret {}", shorten(label)),
            )
            .with_hint("ranges include both ends")),
            (Some((at, _)), None) => Ok(Some(*at)),
            (None, _) => {
                let is_of_others = |rule: &Rule| rule.joined.contains(&Part::Others);
                Ok(self.rules.iter().position(is_of_others))
            }
        }
    }
}

/// Secrets that were joined: the label and the secrets of the file in it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MergedSecret {
    /// The label.
    pub label: String,
    /// What it was in the file.
    pub from: Vec<String>,
}

/// Rules at work.
#[derive(Default)]
pub(crate) struct Merging {
    /// By label in the file: the label that it becomes.
    known: HashMap<String, String>,
    /// In the order in which they came: label in the file, its rule.
    seen: Vec<(String, Option<usize>)>,
}

impl Merging {
    /// What a label becomes.
    ///
    /// # Errors
    /// A label of two rules.
    pub(crate) fn label<'m>(&'m mut self, rules: &SecretRules, label: &str) -> Result<&'m str> {
        if !self.known.contains_key(label) {
            let rule = rules.rule_of(label)?;
            let to = rule.map_or(label, |rule| &rules.rules[rule].to);
            self.known.insert(label.to_owned(), to.to_owned());
            self.seen.push((label.to_owned(), rule));
        }
        Ok(&self.known[label])
    }

    /// How many labels came so far.
    pub(crate) fn len(&self) -> usize {
        self.seen.len()
    }

    /// Forgets the labels from a number on.
    pub(crate) fn truncate(&mut self, len: usize) {
        for (label, _) in self.seen.drain(len..) {
            self.known.remove(&label);
        }
    }

    /// Refuses a label of the command line that no secret has: it is misspelled. A file of rules may serve many logs.
    fn refuse_unknown_labels(&self, rules: &SecretRules) -> Result<()> {
        for rule in &rules.rules {
            let is_unknown = |part: &&Part| match part {
                Part::Label(label) => self.seen.iter().all(|(seen, _)| seen != label),
                Part::Range(..) | Part::Others => false,
            };
            if let Some(Part::Label(label)) = rule.joined.iter().find(is_unknown) {
                let what = setting("merge", &rule.text);
                let problem = format!("no secret of the log is {}", shorten(label));
                return Err(Error::parameter(what, problem).with_hint(self.listed()));
            }
        }
        Ok(())
    }

    fn listed(&self) -> String {
        let labels = self.seen.iter().map(|(label, _)| label.as_str());
        format!("the log has: {}", listing(labels))
    }

    /// What was joined; empty without rules.
    ///
    /// # Errors
    /// A rule of the command line that no secret of the log met, or a file none of whose labels the log has.
    pub(crate) fn finish(&self, rules: &SecretRules) -> Result<Vec<MergedSecret>> {
        let is_met = |rule: usize| self.seen.iter().any(|(_, met)| *met == Some(rule));
        let is_file = !rules.by_label.is_empty();
        let unmet = (0..rules.rules.len()).find(|&rule| !is_met(rule));
        let refused = match unmet {
            Some(_) if is_file => (0..rules.rules.len()).all(|rule| !is_met(rule)),
            Some(_) => true,
            None => false,
        };
        self.refuse_unknown_labels(rules)?;
        if let (Some(rule), true) = (unmet, refused) {
            let what = match is_file {
                true => option("secret_map"),
                false => setting("merge", &rules.rules[rule].text),
            };
            return Err(
                Error::parameter(what, "no secret of the log is in it").with_hint(self.listed())
            );
        }
        let mut merged: Vec<MergedSecret> = Vec::new();
        for (label, rule) in &self.seen {
            let to = &self.known[label];
            match merged.iter_mut().find(|found| found.label == *to) {
                Some(found) => found.from.push(label.clone()),
                None if rule.is_some() || self.is_target(rules, to) => merged.push(MergedSecret {
                    label: to.clone(),
                    from: vec![label.clone()],
                }),
                None => {}
            }
        }
        Ok(merged)
    }

    /// Whether a met rule gives this label, so that a secret that had it already is joined with others.
    fn is_target(&self, rules: &SecretRules, label: &str) -> bool {
        let mut met = self.seen.iter().filter_map(|(_, rule)| *rule);
        met.any(|rule| rules.rules[rule].to == label)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(rules: &str, labels: &[&str]) -> std::result::Result<Vec<String>, String> {
        let text = |error: Error| error.to_string();
        let rules = SecretRules::parse(rules).map_err(text)?;
        let mut merging = Merging::default();
        for label in labels {
            merging.label(&rules, label).map_err(text)?;
        }
        let merged = merging.finish(&rules).map_err(text)?;
        let show = |found: MergedSecret| format!("{}: {}", found.label, found.from.join(" "));
        Ok(merged.into_iter().map(show).collect())
    }

    #[test]
    fn ranges_and_labels_are_joined_and_others_stay() {
        let found = merged("..3=few,4..=4+", &["0", "5", "3.0", "4", "17"]).unwrap();
        assert_eq!(found, ["few: 0 3.0", "4+: 5 4 17"]);
        let found = merged("a|b=either", &["c", "b", "a"]).unwrap();
        assert_eq!(found, ["either: b a"]);
        let found = merged("a=a,*=others", &["c", "a", "b"]).unwrap();
        assert_eq!(found, ["others: c b", "a: a"]);
        // A secret that has the label already is one of them.
        assert_eq!(merged("a=b", &["b", "a", "c"]).unwrap(), ["b: b a"]);
    }

    #[test]
    fn rules_that_overlap_or_are_never_met_are_refused() {
        for (rules, words) in [
            (
                "0..4=few,4..=many",
                "two rules say what becomes of secret 4",
            ),
            ("0..3=few,7..9=many", "no secret of the log is in it"),
            ("0|zz=few", "no secret of the log is zz"),
            ("0..3", "no `=`"),
            ("=few", "names no secret"),
            ("0..3=", "names no label"),
            ("a..3=few", "is no number"),
            ("3..1=few", "is empty"),
            ("*=few,*=many", "two rules say what becomes of all others"),
            ("0|4=few,*=many", "no secret of the log is in it"),
        ] {
            let problem = merged(rules, &["0", "4"]).unwrap_err();
            assert!(problem.contains(words), "{rules}: {problem}");
        }
    }
}
