//! `--group`: units (users, devices, sessions) are independent, and their rows need not be.

use crate::common::{Place, assert_refused, stdout};
use leakgauge::audit::{AuditOptions, Findings, Verdict, audit};
use leakgauge::claim::Claim;
use leakgauge::log::{Log, LogBuilder};
use leakgauge::stats::special::normal_quantile;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Logs a case.
const LOGS: u64 = 200;
/// Of 200 logs, a limit at 95 % may miss in at most so many: P(Bin(200, 0.05) > 20) = 0.0004.
const MOST_MISSES: usize = 20;

/// Devices whose rows share an offset.
#[derive(Clone, Copy)]
struct Devices {
    devices: usize,
    /// Whether a device has rows of both secrets.
    both: bool,
    /// Rows of a device: 50, or 1 to 200.
    unequal: bool,
    /// What secret `b` adds to an observation with a standard deviation of 1.
    leak: f64,
}

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    normal_quantile(rng.random::<f64>().clamp(1e-16, 1.0 - 1e-16))
}

type Rows = Vec<(usize, &'static str, f64)>;

impl Devices {
    const LEAK_FREE: Devices = Devices {
        devices: 40,
        both: false,
        unequal: false,
        leak: 0.0,
    };

    /// Device, secret and observation of every row; the offset of a device has a standard deviation of 1.
    fn rows(&self, seed: u64) -> Rows {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut rows = Vec::new();
        for device in 0..self.devices {
            let offset = normal(&mut rng);
            let count = if self.unequal {
                rng.random_range(1..=200)
            } else {
                50
            };
            for _ in 0..count {
                let secret = if self.both {
                    rng.random_range(0..2)
                } else {
                    device % 2
                };
                let value = offset + normal(&mut rng) + self.leak * secret as f64;
                rows.push((device, ["a", "b"][secret], value));
            }
        }
        rows
    }

    fn log(&self, seed: u64, grouped: bool) -> Log {
        let rows = self.rows(seed);
        let secrets: Vec<&str> = rows.iter().map(|row| row.1).collect();
        let values: Vec<f64> = rows.iter().map(|row| row.2).collect();
        let devices: Vec<String> = rows.iter().map(|row| row.0.to_string()).collect();
        let builder = LogBuilder::new().secrets(&secrets).numbers("time", &values);
        let builder = if grouped {
            builder.groups("device", &devices)
        } else {
            builder
        };
        builder.build().expect("a log")
    }
}

fn found(log: &Log, claims: &[&str], seed: u64) -> Findings {
    let options = AuditOptions {
        claims: claims
            .iter()
            .map(|claim| Claim::parse(claim).expect("a claim"))
            .collect(),
        seed,
        quick: true,
        budget: "300ms".parse().expect("a budget"),
        ..AuditOptions::default()
    };
    audit(log, &options).expect("an audit")
}

/// How many of the logs are found to leak at all, by any claim.
fn violated(devices: Devices, grouped: bool) -> usize {
    let claims = ["advantage(0)", "ldp(0)", "gdp(0)", "attack-advantage(0)"];
    let is_violated = |seed: u64| {
        let found = found(&devices.log(seed, grouped), &claims, seed);
        let violated = |claim: &leakgauge::audit::ClaimReport| claim.verdict == Verdict::Violated;
        found.claims.iter().any(violated)
    };
    (0..LOGS)
        .into_par_iter()
        .filter(|&seed| is_violated(seed))
        .count()
}

/// 40 devices, an effect of one standard deviation, leak-free.
#[test]
#[ignore = "long"]
fn devices_that_differ_are_no_leak() {
    let cases = [(false, false), (false, true), (true, false), (true, true)];
    for (both, unequal) in cases {
        let devices = Devices {
            both,
            unequal,
            ..Devices::LEAK_FREE
        };
        let violated = violated(devices, true);
        assert!(
            violated <= MOST_MISSES,
            "{both} {unequal}: {violated} of {LOGS}"
        );
    }
}

/// What the option is for: without it, the devices' offsets look like a leak.
#[test]
#[ignore = "long"]
fn rows_of_devices_that_are_taken_as_independent_look_like_a_leak() {
    let violated = violated(Devices::LEAK_FREE, false);
    assert!(violated > LOGS as usize / 4, "{violated} of {LOGS}");
}

#[test]
#[ignore = "long"]
fn a_leak_is_found_through_the_devices_offsets() {
    let one = Devices {
        leak: 3.0,
        ..Devices::LEAK_FREE
    };
    let several = Devices {
        devices: 200,
        both: true,
        leak: 1.0,
        ..Devices::LEAK_FREE
    };
    // Three in four, less 2.5 standard errors of 200 logs; nearly all.
    for (devices, least) in [(one, 135), (several, 195)] {
        let violated = violated(devices, true);
        assert!(violated >= least, "{violated} of {LOGS}");
    }
}

/// Devices that show 1 with a probability of their own, which the secret raises by 0.1: the advantage of who
/// meets a random device is 0.1. Both limits of each figure against the truth, of few devices and of many.
#[test]
fn limits_of_discrete_logs_hold_for_a_random_device() {
    let truth = 0.1;
    for devices in [16, 100] {
        let misses: Vec<[bool; 4]> = (0..LOGS)
            .into_par_iter()
            .map(|log| {
                let found = found(&shows(truth, devices, log), &[], 0);
                let tv = &found.worst_pair.total_variation;
                let risk = &found.overall.bayes_risk;
                let [lower, upper] = [tv.lower, tv.upper].map(|limit| limit.expect("a limit"));
                // Of a random device either observation is as likely, so that nothing better is known.
                let true_risk = 0.5 * (1.0 - truth);
                [
                    lower > truth,
                    upper < truth,
                    risk.lower.expect("a limit") > true_risk,
                    risk.upper.expect("a limit") < true_risk,
                ]
            })
            .collect();
        for limit in 0..4 {
            let missed = misses.iter().filter(|log| log[limit]).count();
            println!("{devices} devices, limit {limit}: {missed} misses");
            assert!(missed <= MOST_MISSES, "{limit}: {missed} of {LOGS}");
        }
    }
}

fn shows(leak: f64, devices: usize, seed: u64) -> Log {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (mut secrets, mut seen, mut units) = (Vec::new(), Vec::new(), Vec::new());
    for device in 0..devices {
        let rate: f64 = 0.9 * rng.random::<f64>();
        for _ in 0..rng.random_range(1..=60) {
            let secret = if device % 4 == 0 {
                rng.random_range(0..2)
            } else {
                device % 2
            };
            let shows = rng.random_bool(rate + leak * secret as f64);
            secrets.push(["a", "b"][secret]);
            seen.push(["0", "1"][usize::from(shows)]);
            units.push(device.to_string());
        }
    }
    let log = LogBuilder::new()
        .secrets(&secrets)
        .labels("seen", &seen)
        .groups("device", &units);
    log.build().expect("a log")
}

/// Devices with offsets of their own and no leak, few of them: the tests of units are right at the program's own seed,
/// and that of no leak at all is as rarely small as it says.
#[test]
fn few_devices_are_seldom_accused() {
    let alarms: Vec<[bool; 2]> = (0..LOGS)
        .into_par_iter()
        .map(|log| {
            let devices = Devices {
                devices: 12 + (log % 3) as usize * 6,
                unequal: log % 2 == 0,
                ..Devices::LEAK_FREE
            };
            let options = AuditOptions {
                claims: vec![Claim::parse("advantage(0)").expect("a claim")],
                budget: "200ms".parse().expect("a budget"),
                ..AuditOptions::default()
            };
            let found = audit(&devices.log(1000 + log, true), &options).expect("an audit");
            let no_leak = found.no_leak.expect("a test");
            [
                found.claims[0].verdict == Verdict::Violated,
                no_leak.p_value <= 0.05,
            ]
        })
        .collect();
    for test in 0..2 {
        let alarms = alarms.iter().filter(|log| log[test]).count();
        assert!(alarms <= MOST_MISSES, "{test}: {alarms} of {LOGS}");
    }
}

/// How many rows a device has depends on its secret, and nothing else does: means of few rows vary more, which is no leak.
#[test]
fn numbers_of_rows_are_not_taken_for_what_rows_tell() {
    let alarms = (0..LOGS).into_par_iter().filter(|&log| {
        let mut rng = ChaCha8Rng::seed_from_u64(3000 + log);
        let (mut secrets, mut values, mut units) = (Vec::new(), Vec::new(), Vec::new());
        for device in 0..40 {
            let secret = device % 2;
            for _ in 0..[60, 12][secret] {
                secrets.push(["a", "b"][secret]);
                values.push(normal(&mut rng));
                units.push(device.to_string());
            }
        }
        let log = LogBuilder::new()
            .secrets(&secrets)
            .numbers("time", &values)
            .groups("device", &units);
        let options = AuditOptions {
            budget: "100ms".parse().expect("a budget"),
            ..AuditOptions::default()
        };
        let found = audit(&log.build().expect("a log"), &options).expect("an audit");
        found.no_leak.expect("a test").p_value <= 0.05
    });
    let alarms = alarms.count();
    assert!(alarms <= MOST_MISSES, "{alarms} of {LOGS}");
}

/// Six devices of each secret that every row gives away: eight of them judge, and all of them are compared.
#[test]
fn twelve_devices_certify_what_every_row_of_theirs_shows() {
    let rows = (0..240).map(|row| (row % 12, row % 2));
    let secrets: Vec<&str> = rows.clone().map(|row| ["a", "b"][row.1]).collect();
    let seen: Vec<&str> = rows.clone().map(|row| ["x", "y"][row.1]).collect();
    let units: Vec<String> = rows.map(|row| row.0.to_string()).collect();
    let log = LogBuilder::new()
        .secrets(&secrets)
        .labels("seen", &seen)
        .groups("device", &units);
    let options = AuditOptions {
        claims: vec![Claim::parse("advantage(0.1)").expect("a claim")],
        ..AuditOptions::default()
    };
    let found = audit(&log.build().expect("a log"), &options).expect("an audit");
    let lower = found.worst_pair.total_variation.lower.expect("a limit");
    assert!(lower > 0.1, "{lower}");
    assert_eq!(found.claims[0].verdict, Verdict::Violated);
    let no_leak = found.no_leak.expect("a test");
    // Two of 924 assignments are as extreme.
    assert!(no_leak.of_units && no_leak.p_value < 0.01, "{no_leak:?}");
}

/// A log as text: device, secret, what was seen.
fn csv(seed: u64, devices: std::ops::Range<usize>) -> String {
    let all = Devices {
        devices: devices.end,
        both: true,
        leak: 2.0,
        ..Devices::LEAK_FREE
    };
    let mut text = "device,secret,time\n".to_owned();
    for (device, secret, value) in all.rows(seed) {
        if devices.contains(&device) {
            text += &format!("{device},{secret},{value:.3}\n");
        }
    }
    text
}

#[test]
fn the_report_says_how_many_units_there_are_and_that_limits_count_them() {
    let place = Place::with_log(csv(1, 0..60));
    let arguments = [
        "audit",
        "log.csv",
        "--group",
        "device",
        "--claim",
        "advantage(0.05)",
    ];
    let output = place.run(&[&arguments[..], &["--full", "--html", "page.html"]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    let text = stdout(&output);
    assert!(text.contains("60 units (column device)"), "{text}");
    assert!(
        text.contains("24 training units, 12 tuning units, 24 certification units"),
        "{text}"
    );
    assert!(
        text.contains("attacks learned from earlier units"),
        "{text}"
    );
    let page = std::fs::read_to_string(place.path().join("page.html")).expect("a page");
    assert!(page.contains("60 units (column device)"));
    let found = place.json(&["estimate", "log.csv", "--group", "device"]);
    let units = &found["input"]["units"];
    assert_eq!(
        (&units["column"], &units["units"]),
        (&"device".into(), &60.into())
    );
    assert_eq!(units["secrets"][1]["label"], "b");
    assert_eq!(found["method"]["units"]["certify"], 24);
    let worst = &found["worst_pair"];
    assert_eq!(
        worst["total_variation"]["method"]["lower"],
        "prequential-units"
    );
    assert!(worst["trade_off"].is_null());
    assert!(found["convergence"].is_null());
}

#[test]
fn without_units_the_report_says_what_is_assumed() {
    let text = stdout(&Place::with_log(csv(1, 0..20)).run(&["estimate", "log.csv", "--full"]));
    assert!(text.contains("Rows are independent draws"), "{text}");
    assert!(text.contains("--group"), "{text}");
}

#[test]
fn the_same_units_in_other_files_give_the_same_report() {
    let text = csv(2, 0..40);
    let mut lines: Vec<&str> = text.lines().skip(1).collect();
    let json: String = lines
        .iter()
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            let [device, secret, time] = fields[..] else {
                panic!("three fields");
            };
            format!("{{\"device\":{device},\"secret\":\"{secret}\",\"time\":{time}}}\n")
        })
        .collect();
    lines.sort_unstable();
    let mut counted = "n,device,secret,time\n".to_owned();
    for same in lines.chunk_by(|one, next| one == next) {
        counted += &format!("{},{}\n", same.len(), same[0]);
    }
    let half = lines.len() / 2;
    let part = |lines: &[&str]| format!("device,secret,time\n{}\n", lines.join("\n"));
    let place = Place::with_log(&text)
        .file("log.jsonl", json)
        .file("counted.csv", counted)
        .file("first.csv", part(&lines[..half]))
        .file("second.csv", part(&lines[half..]));
    let estimate = |arguments: &[&str]| {
        let mut found = place.json(&[&["estimate", "--group", "device"], arguments].concat());
        for key in ["input", "warnings"] {
            found.as_object_mut().expect("an object").remove(key);
        }
        found
    };
    let expected = estimate(&["log.csv"]);
    for arguments in [
        &["log.jsonl"][..],
        &["counted.csv", "--count", "n"],
        &["first.csv", "second.csv"],
    ] {
        assert_eq!(estimate(arguments), expected, "{arguments:?}");
    }
}

#[test]
fn no_unit_is_learned_from_and_judged() {
    let place = Place::with_log(csv(3, 0..40))
        .file("other.csv", csv(3, 30..70))
        .file("same.csv", csv(3, 0..40));
    let arguments = ["estimate", "log.csv", "--group", "device", "--fit-on"];
    let found = place.json(&[&arguments[..], &["other.csv"]].concat());
    let units = &found["method"]["units"];
    assert_eq!(
        [&units["fit"], &units["tune"], &units["certify"]],
        [&20.into(), &10.into(), &serde_json::Value::from(40)]
    );
    let warnings = found["warnings"].as_array().expect("warnings");
    let shared = warnings
        .iter()
        .find(|warning| warning["code"] == "shared-units");
    let message = shared.expect("a warning")["message"]
        .as_str()
        .expect("a text");
    assert!(message.contains("10 units"), "{message}");
    let refused = place.run(&[&arguments[..], &["same.csv"]].concat());
    assert_refused(&refused, &["same.csv", "only units", "--fit-on"]);
}

#[test]
fn what_cannot_count_units_is_refused() {
    let place = Place::with_log(csv(4, 0..10)).file("other.csv", csv(5, 0..10));
    let claim = ["--claim", "advantage(0.1)"];
    for (arguments, expected) in [
        (
            &["estimate", "log.csv", "--split", "blocks"][..],
            "--split blocks",
        ),
        (&["estimate", "log.csv", "--wide"], "--wide"),
        (
            &["audit", "log.csv", "--follow", claim[0], claim[1]],
            "single rows",
        ),
        (
            &["compare", "log.csv", "other.csv"],
            "audit each log by itself",
        ),
        (
            &["estimate", "log.csv", "--max-rows", "1000"],
            "more than 1000",
        ),
    ] {
        let arguments = [arguments, &["--group", "device"]].concat();
        let log = csv(4, 0..30);
        let place = if arguments.contains(&"--max-rows") {
            &Place::with_log(log)
        } else {
            &place
        };
        assert_refused(&place.run(&arguments), &["--group", expected]);
    }
}

#[test]
fn columns_and_rows_without_units_are_named() {
    let log = "device,secret,x\n1,a,0.5\n,b,0.25\n2,a,0.75\n";
    let place = Place::with_log(log);
    let run = |column: &str| place.run(&["estimate", "log.csv", "--group", column]);
    assert_refused(
        &run("device"),
        &["log.csv", "row 3", "device", "names no unit"],
    );
    assert_refused(
        &run("devise"),
        &["--group devise", "did you mean `device`?"],
    );
    assert_refused(&run("secret"), &["secret", "two parts"]);
}

/// 200 users, half of whom visit A 40 times and B twice, half the reverse; who visits shows, what is visited does not.
fn visits(informative: bool) -> String {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut text = "user,secret,seen\n".to_owned();
    for user in 0..200 {
        for visit in 0..42 {
            let common = if user % 2 == 0 { "A" } else { "B" };
            let rare = if user % 2 == 0 { "B" } else { "A" };
            let secret = match informative {
                true if visit < 40 => common,
                true => rare,
                false => ["A", "B"][visit % 2],
            };
            // A user is known by a habit in nine visits of ten.
            let habit = if rng.random::<f64>() < 0.9 {
                user % 2
            } else {
                rng.random_range(0..2)
            };
            text += &format!("{user},{secret},h{habit}\n");
        }
    }
    text
}

/// The report of a command that may exit with any verdict.
fn json(place: &Place, arguments: &[&str]) -> serde_json::Value {
    let output = place.run(&[arguments, &["--format", "json"]].concat());
    serde_json::from_str(&stdout(&output)).expect("a report")
}

#[test]
fn groups_that_differ_in_their_mix_take_away_what_holds_for_a_random_group_alone() {
    let claims = [
        "--claim",
        "attack-advantage(0.3)",
        "--claim",
        "advantage(0.35)",
    ];
    let audit = [
        &["audit", "log.csv", "--secret", "secret", "--group", "user"][..],
        &claims,
    ]
    .concat();
    let place = Place::with_log(visits(true));
    let found = json(&place, &audit);
    for claim in found["claims"].as_array().expect("claims") {
        assert_eq!(claim["verdict"], "inconclusive", "{claim}");
        let reason = claim["reason"].as_str().expect("a reason");
        assert!(
            reason.contains("differ in their mix") && reason.contains("--attacker unit"),
            "{reason}"
        );
    }
    assert!(found["warnings"].to_string().contains("uneven-mix"));
    // A random row of the log has an advantage of about 0.8: it is said nowhere that there is none.
    let text = stdout(&place.run(&audit));
    assert!(!text.contains("No attacker can"), "{text}");
    assert!(text.contains("differ in their mix"), "{text}");
    let stated = json(&place, &[&audit[..], &["--attacker", "unit"]].concat());
    assert_eq!(
        stated["claims"][0]["verdict"], "holds",
        "{}",
        stated["claims"][0]
    );
    let even = json(&Place::with_log(visits(false)), &audit);
    assert_eq!(
        even["claims"][0]["verdict"], "holds",
        "{}",
        even["claims"][0]
    );
}
