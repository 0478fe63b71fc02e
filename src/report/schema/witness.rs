//! The events behind limits of privacy.

use serde::Serialize;

use crate::audit::{Pair, Stronger, Witness, WitnessEvent};
use crate::report::sentences::witness::event;
use leakgauge_attack::pairwise::{Event, ScoreEvent};

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct WitnessKeys<'a> {
    /// The attack, or `groups` for groups of similar rows.
    attack: &'a str,
    /// Events of its scores; two where the limit rests on guesses at both ends.
    events: Vec<EventKeys<'a>>,
    /// The limit of μ of Gaussian privacy on the same rows, where it means more than that of ε.
    #[serde(skip_serializing_if = "Option::is_none")]
    stronger: Option<StrongerKeys>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct EventKeys<'a> {
    /// The secret under which the event is likelier, then the other.
    secrets: &'a Pair,
    /// Rows of both that judge: neither attack nor event was chosen by their secrets.
    rows: [u64; 2],
    /// Those of them in the event.
    inside: [u64; 2],
    #[serde(flatten)]
    event: ObservedKeys<'a>,
    /// The two events that are both to happen, where `kind` is `both`.
    #[serde(skip_serializing_if = "Option::is_none")]
    both: Option<[ObservedKeys<'a>; 2]>,
}

/// What is seen.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ObservedKeys<'a> {
    /// The event in words.
    description: String,
    /// `outcomes`, `labels`, `interval`, `both`, `score`, `groups` or `guessed`.
    kind: &'static str,
    /// The column that it is about, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<&'a str>,
    /// The observations, or the labels of the column.
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<&'a [String]>,
    /// The smallest number of the column, or the smallest difference of scores, in the event.
    #[serde(skip_serializing_if = "Option::is_none")]
    at_least: Option<f64>,
    /// A difference of scores that all in the event exceed.
    #[serde(skip_serializing_if = "Option::is_none")]
    above: Option<f64>,
    /// The largest number of the column, or the largest difference of scores, in the event.
    #[serde(skip_serializing_if = "Option::is_none")]
    at_most: Option<f64>,
    /// The number of groups of similar rows that were taken, and how many were formed, where `kind` is `groups`.
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<[u64; 2]>,
    /// The columns that tell most, in this order, where `kind` is `guessed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    columns: Option<&'a [String]>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct StrongerKeys {
    /// The lower limit of μ.
    mu: f64,
    /// The ε of a Gaussian mechanism with this μ at the same δ.
    epsilon: f64,
}

impl<'a> WitnessKeys<'a> {
    pub fn of(found: &'a Witness) -> Self {
        let stronger = |&Stronger { mu, epsilon }: &Stronger| StrongerKeys { mu, epsilon };
        WitnessKeys {
            attack: &found.attack,
            events: found.events.iter().map(EventKeys::of).collect(),
            stronger: found.stronger.as_ref().map(stronger),
        }
    }
}

impl<'a> EventKeys<'a> {
    fn of(found: &'a WitnessEvent) -> Self {
        let both = match &found.event {
            Event::Both(both) => Some(both.each_ref().map(ObservedKeys::of)),
            _ => None,
        };
        EventKeys {
            secrets: &found.secrets,
            rows: found.rows,
            inside: found.inside,
            event: ObservedKeys::of(&found.event),
            both,
        }
    }
}

impl<'a> ObservedKeys<'a> {
    fn of(found: &'a Event) -> Self {
        let keys = ObservedKeys {
            description: event(found),
            kind: "score",
            column: None,
            values: None,
            at_least: None,
            above: None,
            at_most: None,
            groups: None,
            columns: None,
        };
        match found {
            Event::Outcomes(values) => ObservedKeys {
                kind: "outcomes",
                values: Some(values),
                ..keys
            },
            Event::Labels { column, labels } => ObservedKeys {
                kind: "labels",
                column: Some(column),
                values: Some(labels),
                ..keys
            },
            Event::Interval {
                column,
                at_least,
                at_most,
            } => ObservedKeys {
                kind: "interval",
                column: Some(column),
                at_least: *at_least,
                at_most: *at_most,
                ..keys
            },
            Event::Both(_) => ObservedKeys {
                kind: "both",
                ..keys
            },
            &Event::Groups { groups, of } => ObservedKeys {
                kind: "groups",
                groups: Some([groups, of]),
                ..keys
            },
            Event::Guessed { columns } => ObservedKeys {
                kind: "guessed",
                columns: Some(columns),
                ..keys
            },
            Event::Score(ScoreEvent::AtLeast(bound)) => ObservedKeys {
                at_least: Some(*bound),
                ..keys
            },
            Event::Score(ScoreEvent::Above(bound)) => ObservedKeys {
                above: Some(*bound),
                ..keys
            },
            Event::Score(ScoreEvent::AtMost(bound)) => ObservedKeys {
                at_most: Some(*bound),
                ..keys
            },
        }
    }
}
