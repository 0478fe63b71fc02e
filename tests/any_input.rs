//! No log makes the reader or the audit panic, and whatever is printed is a number.

use crate::common::check_schema_of;
use std::io::Cursor;

use leakgauge::attack::tuning::ScorerChoice;
use leakgauge::audit::{self, AuditOptions, Findings, PriorChoice, SplitChoice};
use leakgauge::claim::Claim;
use leakgauge::estimate::Estimate;
use leakgauge::log::{HeaderChoice, ListReading, Log, ReadOptions, read_from};
use leakgauge::report::{Format, write_audit};
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// What a field of a log may be, the worse the better. Nothing here is written like NaN or inf, so
/// that those in a report are its own.
const NASTY: &[&str] = &[
    "0",
    "1",
    "2",
    "-0",
    "7",
    "0.5",
    "1.5",
    "2.25",
    "-3",
    "1e308",
    "-1e308",
    "1.7976931348623157e308",
    "5e-324",
    "-5e-324",
    "2.2250738585072014e-308",
    "1e-300",
    "1e150",
    "-1e150",
    "9007199254740993",
    "123456789012345678901234567890",
    "1e15",
    "0.1",
    "0.30000000000000004",
    "",
    " ",
    "x",
    "yes",
    "no",
    "\"a,b\"",
    "\"a\nb\"",
    "\"q\"\"q\"",
    "é",
    "\u{1b}[31m",
    "\u{202e}x",
    "a;b",
    "\t",
    "timeout",
    "(null)",
    "(number)",
    "\"1,234\"",
    "1'234",
    "0x1F",
    "3fa9",
    "12 ms",
    "+1",
    "01",
    "1.0",
    "1e0",
];
const FINITE: &[&str] = &[
    "0",
    "-0",
    "1",
    "2",
    "0.5",
    "-0.5",
    "1e308",
    "-1e308",
    "5e-324",
    "1e-310",
    "3e150",
    "-3e150",
    "1e16",
    "123456789.125",
];
const CLAIMS: &[&str] = &[
    "ldp(0)",
    "ldp(1)",
    "dp(epsilon=0.5, delta=0.1)",
    "dp(epsilon=1e300, delta=1)",
    "advantage(0.1)",
    "bayes-security(0.9)",
    "attack-advantage(0.2)",
    "randomized-response(1)",
    "laplace(2)",
    "laplace(scale=1e308)",
    "laplace(scale=1e-320)",
    "gaussian(sigma=1)",
    "gaussian(sigma=1e-310)",
    "geometric(0.1)",
    "laplace(scale=1)",
];

#[derive(Debug, Clone)]
enum Mutation {
    Flip(Index, u8),
    Cut(Index),
    Double(Index),
    Insert(Index, &'static str),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    prop_oneof![
        (any::<Index>(), any::<u8>()).prop_map(|(at, bits)| Mutation::Flip(at, bits)),
        any::<Index>().prop_map(Mutation::Cut),
        any::<Index>().prop_map(Mutation::Double),
        (
            any::<Index>(),
            select(&[",", "\"", "\n", "\r", ",,", "\0", "\u{feff}", "\t;"][..])
        )
            .prop_map(|(at, text)| Mutation::Insert(at, text)),
    ]
}

fn mutate(text: &mut Vec<u8>, mutations: &[Mutation]) {
    for mutation in mutations {
        if text.is_empty() {
            return;
        }
        match mutation {
            Mutation::Flip(at, bits) => {
                let at = at.index(text.len());
                text[at] ^= bits;
            }
            Mutation::Cut(at) => text.truncate(at.index(text.len())),
            Mutation::Double(at) => {
                let at = at.index(text.len());
                let byte = text[at];
                text.insert(at, byte);
            }
            Mutation::Insert(at, piece) => {
                let at = at.index(text.len());
                text.splice(at..at, piece.bytes());
            }
        }
    }
}

/// A log of a few secrets, some of them rare, over a few columns of nasty values.
fn log_text(values: &'static [&'static str]) -> impl Strategy<Value = Vec<u8>> {
    let secret =
        prop_oneof![8 => select(&["a", "b"][..]), 2 => select(&["0", "1", "-7", "1e300"][..])];
    (1usize..4, 0usize..4).prop_flat_map(move |(columns, kinds)| {
        // Few kinds of values make ties; one kind makes a constant column.
        let pool = prop::collection::vec(select(values), 1 + 3 * kinds);
        let rows = prop::collection::vec(
            (
                secret.clone(),
                prop::collection::vec(any::<Index>(), columns),
            ),
            1..70,
        );
        (pool, rows).prop_map(move |(pool, rows)| {
            let names: Vec<String> = (0..columns).map(|column| format!("x{column}")).collect();
            let mut text = format!("secret,{}\n", names.join(","));
            for (secret, fields) in rows {
                let fields: Vec<&str> = fields.iter().map(|at| *at.get(&pool)).collect();
                text += &format!("{secret},{}\n", fields.join(","));
            }
            text.into_bytes()
        })
    })
}

fn read_options() -> impl Strategy<Value = ReadOptions> {
    let column = || select(&["x0", "x1", "1", "2", "secret", "9", ""][..]).prop_map(str::to_owned);
    (
        prop::option::weighted(0.2, column()),
        prop::option::weighted(0.2, prop::collection::vec(column(), 0..3)),
        prop::option::weighted(0.2, column()),
        select(
            &[
                HeaderChoice::Detect,
                HeaderChoice::Present,
                HeaderChoice::Absent,
            ][..],
        ),
        prop::option::weighted(0.2, select(&b",;\t1a"[..])),
        prop::option::weighted(0.2, column()),
        prop::option::weighted(0.2, column()),
        prop::option::weighted(
            0.3,
            (
                column(),
                select(&[1.0, 0.1, 1e-300, 1e300, 0.0, f64::NAN][..]),
            ),
        ),
        prop::option::weighted(
            0.1,
            select(vec![vec!["a", "b"], vec!["a"], vec!["1", "1", "a"]]),
        ),
        prop::option::weighted(0.1, (column(), list_reading())),
        prop::bool::weighted(0.1),
    )
        .prop_map(
            |(
                secret,
                observe,
                count,
                header,
                delimiter,
                categorical,
                numeric,
                resolution,
                secrets,
                lists,
                wide,
            )| {
                ReadOptions {
                    secret,
                    observe,
                    keep_order: count.is_none() && !wide,
                    lists: lists.into_iter().collect(),
                    wide,
                    count,
                    header,
                    delimiter,
                    categorical: categorical.into_iter().collect(),
                    numeric: numeric.into_iter().collect(),
                    resolution: resolution.into_iter().collect(),
                    secrets: secrets.into_iter().flatten().map(str::to_owned).collect(),
                    ..ReadOptions::default()
                }
            },
        )
}

fn list_reading() -> impl Strategy<Value = ListReading> {
    select(
        &[
            ListReading::First(1),
            ListReading::First(3),
            ListReading::Length,
            ListReading::Sum,
            ListReading::Set,
        ][..],
    )
}

fn audit_options() -> impl Strategy<Value = AuditOptions> {
    (
        select(&[0.5, 0.9, 0.95, 0.999_999_999_999, 1.0, f64::NAN][..]),
        select(
            &[
                ScorerChoice::Auto,
                ScorerChoice::Frequentist,
                ScorerChoice::KNearest,
                ScorerChoice::Nearest,
            ][..],
        ),
        select(vec![
            PriorChoice::Uniform,
            PriorChoice::Empirical,
            PriorChoice::Given([("a".into(), 1.0)].into()),
        ]),
        select(&[0.0, 0.02, 1.0, -1.0][..]),
        prop::collection::vec(select(CLAIMS), 0..4),
        any::<u64>(),
    )
        .prop_map(
            |(confidence, scorer, prior, margin, claims, seed)| AuditOptions {
                attacker: Default::default(),
                quick: seed % 2 == 0,
                confidence,
                attacks: scorer.into(),
                budget: leakgauge::attack::tuning::Budget::default(),
                prior,
                margin,
                unit: None,
                clock_frequency: None,
                clock_step: None,
                seed,
                split: if seed.is_multiple_of(2) {
                    SplitChoice::Random
                } else {
                    SplitChoice::Blocks
                },
                claims: claims
                    .into_iter()
                    .filter_map(|claim| Claim::parse(claim).ok())
                    .collect(),
                neighbors: Vec::new(),
                design: leakgauge::audit::Design::default(),
                requested: leakgauge::audit::RequestedFigures {
                    payoff: None,
                    reconstruction: vec![0.01, 0.5],
                    tries: vec![1, 2],
                    orders: vec![0.5, 1.0, 2.0, f64::INFINITY],
                    order: if seed % 4 == 2 { 2 } else { 1 },
                },
            },
        )
}

fn read(text: &[u8], options: &ReadOptions) -> Option<Log> {
    match read_from("log", Cursor::new(text.to_vec()), options) {
        Ok(log) => Some(log),
        Err(error) => {
            assert_message(&error.to_string());
            None
        }
    }
}

fn assert_message(message: &str) {
    let acts = |letter: char| letter.is_control() && letter != '\n';
    assert!(
        !message.is_empty() && !message.contains(acts),
        "{message:?}"
    );
}

/// Audits what was read, and checks every number of the report.
fn check(log: &Log, options: &AuditOptions) {
    match audit::audit(log, options) {
        Ok(audit) => {
            assert_figures(&audit);
            for format in [Format::Text, Format::Markdown, Format::Json] {
                assert_printed(&audit, format);
            }
        }
        Err(error) => assert_message(&error.to_string()),
    }
}

fn assert_figures(audit: &Findings) {
    let worst = &audit.worst_pair;
    let overall = &audit.overall;
    let mut estimates: Vec<&Estimate> = vec![
        &worst.bayes_security,
        &worst.total_variation,
        &worst.advantage,
        &worst.attack_advantage,
        &overall.bayes_security,
        &overall.bayes_risk,
        &overall.risk_leakage,
        &overall.multiplicative_leakage,
        &overall.additive_leakage,
        &overall.min_entropy_leakage,
        &overall.capacity,
    ];
    let securities: Vec<_> = audit
        .pairs
        .iter()
        .map(|pair| pair.bayes_security())
        .collect();
    estimates.extend(&securities);
    estimates.extend(audit.pairs.iter().map(|pair| &pair.total_variation));
    for claim in &audit.claims {
        estimates.push(&claim.estimate);
        assert!(claim.analytic.is_finite(), "{claim:?}");
        let p_value = claim.fit.as_ref().and_then(|fit| fit.p_value);
        assert!(
            p_value.is_none_or(|p| (0.0..=1.0).contains(&p)),
            "{claim:?}"
        );
    }
    for estimate in estimates {
        let numbers = [estimate.point, estimate.lower, estimate.upper];
        assert!(
            numbers.iter().flatten().all(|x| x.is_finite()),
            "{estimate:?}"
        );
        if let (Some(lower), Some(upper)) = (estimate.lower, estimate.upper) {
            assert!(lower <= upper, "{estimate:?}");
        }
    }
    let epsilon = &worst.epsilon;
    assert!(
        [epsilon.point, epsilon.lower]
            .iter()
            .flatten()
            .all(|x| x.is_finite())
    );
    assert!(overall.guessing_error.is_finite());
    assert!(
        audit
            .method
            .tried
            .iter()
            .filter_map(|tried| tried.quality.as_ref().ok())
            .all(|quality| quality.total().is_finite())
    );
    let parameters = audit
        .method
        .tried
        .iter()
        .flat_map(|tried| tried.parameters.values());
    assert!(parameters.chain(audit.method.parameters.values()).all(
        |x| !matches!(x, leakgauge::attack::scorer::Parameter::Real(value) if !value.is_finite())
    ));
}

fn assert_printed(audit: &Findings, format: Format) {
    let mut out = Vec::new();
    write_audit(audit, format, &mut out).expect("memory can be written");
    let text = String::from_utf8(out).expect("reports are UTF-8");
    let words = |text: &str| {
        text.split(|c: char| !c.is_alphanumeric())
            .any(|w| w == "NaN" || w == "inf")
    };
    for line in text.lines() {
        assert!(!words(line), "{line}");
    }
    let acts = |letter: char| letter.is_control() && letter != '\n';
    assert!(format == Format::Json || !text.contains(acts), "{text:?}");
    if format == Format::Json {
        let report = serde_json::from_str(&text).expect("a report is JSON");
        check_schema_of("audit", &report);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_bytes_are_read_or_refused(
        text in prop::collection::vec(any::<u8>(), 0..400), options in read_options(),
    ) {
        read(&text, &options);
    }

    #[test]
    fn any_text_like_json_lines_is_read_or_refused(
        text in "(\\{(\"(secret|x0|x1)\":(1|\"[ab]\"|0\\.5|null|\\[1,2\\]|\\{\"x1\":3\\}|\"2s\"),?)*\\}?\n?){0,20}",
        mutations in prop::collection::vec(mutation(), 0..3),
        options in read_options(),
    ) {
        let mut text = text.into_bytes();
        mutate(&mut text, &mutations);
        read(&text, &options);
    }

    #[test]
    fn any_text_of_a_small_alphabet_is_read_or_refused(
        text in "[ab01.\",;\t\r\n \u{feff}-]{0,200}", options in read_options(),
    ) {
        read(text.as_bytes(), &options);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_damaged_log_is_audited_or_refused(
        mut text in log_text(NASTY),
        mutations in prop::collection::vec(mutation(), 0..4),
        read_options in read_options(),
        options in audit_options(),
    ) {
        mutate(&mut text, &mutations);
        if let Some(log) = read(&text, &read_options) {
            // The numbers of a report are told from its labels by not being in the log.
            let text = String::from_utf8_lossy(&text).to_lowercase();
            if !text.contains("nan") && !text.contains("inf") {
                check(&log, &options);
            }
        }
    }

    #[test]
    fn extreme_numbers_are_audited(
        text in log_text(FINITE), options in audit_options(), aggregated in any::<bool>(),
    ) {
        let read_options = ReadOptions {
            count: aggregated.then(|| "x0".to_owned()),
            keep_order: !aggregated,
            ..ReadOptions::default()
        };
        for options in [options, AuditOptions::default()] {
            if let Some(log) = read(&text, &read_options) {
                check(&log, &options);
            }
        }
    }
}
