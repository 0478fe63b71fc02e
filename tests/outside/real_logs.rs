//! Real logs that others measured. They are not part of the project.

use std::path::PathBuf;

use leakgauge::audit::{AuditOptions, Findings, audit};
use leakgauge::claim::Claim;
use leakgauge::log::{ReadMeter, ReadOptions, SecretRules, read};
use leakgauge::report::sentences::claims::reason;
use libtest_mimic::Trial;

pub fn path_of(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", "shared", "data", name]
        .iter()
        .collect()
}

fn audited(name: &str, secret: &str, claims: &[&str]) -> Findings {
    let options = ReadOptions {
        files: vec![path_of(name).display().to_string()],
        secret: Some(secret.to_owned()),
        ..ReadOptions::default()
    };
    let log = read(&options, &ReadMeter::default()).expect("the log is good");
    let options = AuditOptions {
        claims: claims
            .iter()
            .map(|claim| Claim::parse(claim).expect("a claim"))
            .collect(),
        ..AuditOptions::default()
    };
    audit(&log, &options).expect("the log can be audited")
}

/// Tests of a minute: they run where they are asked for (`--ignored`).
const LONG: [&str; 2] = ["minerva_is_certified", "websites_over_encrypted_dns"];

fn is_long(name: &str) -> bool {
    LONG.iter().any(|long| name.starts_with(long))
}

/// A test for each function, ignored where the directory of its logs is absent, and where it is long.
macro_rules! trials {
    ($($directory:literal: $name:ident;)*) => {
        pub fn trials() -> Vec<Trial> {
            let is_run = |name: &str, directory: &str| path_of(directory).exists() && !is_long(name);
            vec![$(super::trial(stringify!($name), is_run(stringify!($name), $directory), $name)),*]
        }
    };
}

trials! {
    "epassport": the_deployed_british_passport_is_certified_at_085_and_the_report_says_that_its_rows_come_in_blocks;
    "epassport": the_simulated_fix_of_the_passport_is_judged_soberly;
    "epassport": all_passports_are_read_and_warned_about;
    "minerva": minerva_is_certified_although_its_rarest_secrets_have_a_handful_of_rows;
    "doh": websites_over_encrypted_dns_are_told_apart_less_when_padded;
    "rtlf": rtlf_is_read;
    "rtlf": rtlf_and_passports_need_no_options;
    "prompt-caching": audits_of_prompt_caches_need_no_options;
    "minerva": nonces_are_joined_by_their_leading_zeros;
    "doh": the_hamming_distance_tells_websites_apart_best;
}

fn log_of(name: &str, options: ReadOptions) -> leakgauge::Log {
    let options = ReadOptions {
        files: vec![path_of(name).display().to_string()],
        ..options
    };
    read(&options, &ReadMeter::default()).expect("the log is good")
}

fn rtlf_and_passports_need_no_options() {
    let log = log_of("rtlf/example-1.csv", ReadOptions::default());
    assert_eq!(log.facts.recognized, Some(leakgauge::log::Form::Rtlf));
    assert_eq!(log.facts.secret_column, "V1");
    assert_eq!(log.secrets, ["X", "Y"]);
    let log = log_of("epassport/timesGerman500NoFix.csv", ReadOptions::default());
    assert_eq!(log.facts.secret_column, "relation");
}

fn audits_of_prompt_caches_need_no_options() {
    let directory = std::fs::read_dir(path_of("prompt-caching")).expect("a directory");
    let names = directory.map(|entry| {
        entry
            .expect("an entry")
            .file_name()
            .into_string()
            .expect("text")
    });
    let audits: Vec<String> = names.filter(|name| name.ends_with(".json.gz")).collect();
    assert!(!audits.is_empty());
    for name in audits {
        let log = log_of(&format!("prompt-caching/{name}"), ReadOptions::default());
        assert_eq!(
            log.facts.recognized,
            Some(leakgauge::log::Form::PromptCache),
            "{name}"
        );
        assert_eq!(log.secrets, ["cache_hit", "cache_miss"]);
        // 250 requests of a kind were sent; of one service a dozen failed.
        let answered = if name.starts_with("azure_gpt-4o") {
            [245, 243]
        } else {
            [250, 250]
        };
        assert_eq!(log.rows_of_secrets(), answered, "{name}");
    }
}

fn nonces_are_joined_by_their_leading_zeros() {
    let rules = SecretRules::parse("0..3=few,4..=4+").expect("rules");
    let log = log_of(
        "minerva/time_gcrypt.csv",
        ReadOptions {
            secret: Some("2".to_owned()),
            merge: Some(rules),
            ..ReadOptions::default()
        },
    );
    assert_eq!(log.secrets, ["4+", "few"]);
    assert_eq!(log.rows_of_secrets(), [3181, 46819]);
    assert_eq!(log.facts.merged_secrets[0].from, ["0", "1", "2", "3"]);
}

fn codes(audit: &Findings) -> Vec<&'static str> {
    audit
        .warnings
        .iter()
        .map(leakgauge::audit::Warning::code)
        .collect()
}

/// The deployed passport leaks nearly everything, and its labels are not interleaved.
fn the_deployed_british_passport_is_certified_at_085_and_the_report_says_that_its_rows_come_in_blocks()
 {
    let found = audited(
        "epassport/timesBritish1000NoFix.csv",
        "relation",
        &["advantage(0.1)"],
    );
    assert!(found.worst_pair.total_variation.lower.unwrap() >= 0.85);
    assert!(codes(&found).contains(&"labels-not-interleaved"));
    assert!(
        reason(&found.claims[0]).contains("rows of each secret stand together"),
        "{}",
        reason(&found.claims[0])
    );
}

/// The simulated fix moves one class so that the medians agree: what is left is small, and the verdict
/// must not be carried away.
fn the_simulated_fix_of_the_passport_is_judged_soberly() {
    let found = audited("epassport/timesBritish1000FixMedian.csv", "relation", &[]);
    let tv = &found.worst_pair.total_variation;
    assert!(
        tv.lower.unwrap() < 0.35 && tv.point.unwrap() < 0.45,
        "{tv:?}"
    );
    assert!(codes(&found).contains(&"labels-not-interleaved"));
}

fn all_passports_are_read_and_warned_about() {
    for name in [
        "British1000NoFix",
        "British1000FixMedian",
        "German500NoFix",
        "German500FixMedian",
        "Irish500NoFix",
        "Irish500FixMedian",
    ] {
        let found = audited(&format!("epassport/times{name}.csv"), "relation", &[]);
        assert!(codes(&found).contains(&"labels-not-interleaved"), "{name}");
        if name.ends_with("NoFix") {
            assert!(
                found.worst_pair.total_variation.lower.unwrap() > 0.5,
                "{name}"
            );
        }
    }
}

/// The rarest classes have a handful of rows: the pair with the highest estimate certifies nothing, the
/// pair chosen by its lower limit does.
fn minerva_is_certified_although_its_rarest_secrets_have_a_handful_of_rows() {
    for (name, least) in [
        ("athena", 0.8),
        ("gcrypt", 0.8),
        ("sunec", 0.6),
        ("cryptopp", 0.0),
    ] {
        let found = audited(&format!("minerva/time_{name}.csv"), "2", &[]);
        assert!(!found.input.facts.header, "{name}");
        assert_eq!(found.input.facts.rows, 50_000);
        let lower = found.worst_pair.total_variation.lower.unwrap();
        assert!(lower >= least, "{name}: {lower}");
        assert!(codes(&found).contains(&"few-rows"), "{name}");
    }
}

fn websites_over_encrypted_dns_are_told_apart_less_when_padded() {
    let plain = audited("doh/LOC1_100.csv.gz", "domain", &[]);
    let padded = audited("doh/EDNS0-468_100.csv.gz", "domain", &[]);
    assert_eq!((plain.pairs.len(), plain.input.secrets.len()), (4950, 100));
    let risk = |audit: &Findings| audit.overall.bayes_risk.upper.unwrap();
    assert!(risk(&plain) < 0.65 && risk(&padded) > risk(&plain));
}

fn rtlf_is_read() {
    let found = audited("rtlf/example-1.csv", "V1", &[]);
    assert_eq!(found.input.facts.rows, 60_000);
    assert!(found.worst_pair.total_variation.lower.is_some());
}

/// Websites behind encrypted DNS (Siby et al. 2020), learned on the fit and tune rows, judged on the
/// certify rows: the number of columns that differ tells them apart better than any distance of numbers.
fn the_hamming_distance_tells_websites_apart_best() {
    use leakgauge::attack::scorer::{
        KNearest, Metric, Neighbors, Rank, TransformKind, Vote, score_table,
    };
    use leakgauge::attack::split::Split;
    use rand::SeedableRng;
    let options = ReadOptions {
        files: vec![path_of("doh/LOC1_100.csv.gz").display().to_string()],
        secret: Some("domain".to_owned()),
        ..ReadOptions::default()
    };
    let log = read(&options, &ReadMeter::default()).expect("the log is good");
    let split = Split::stratified(&log.counts, &mut rand_chacha::ChaCha8Rng::seed_from_u64(1));
    let (learn, judge) = (split.fit.plus(&split.tune), &split.certify);
    let accuracy = |metric, transform, vote: bool| {
        let neighbors = Neighbors::fit_with(&log.observations, &learn, metric, transform)
            .expect("a log with numbers")
            .into();
        let scorer: Box<dyn leakgauge::attack::scorer::Scorer> = if vote {
            Box::new(Vote::new("vote", neighbors, Rank::Fixed(1)))
        } else {
            Box::new(KNearest::new("nearest", neighbors, Rank::Fixed(1), 24.0))
        };
        let table = score_table(&*scorer, &log.observations, judge.symbols(), 100);
        let mut right = 0;
        for (row, cells) in judge.by_symbol().enumerate() {
            let scores = table.row(row);
            let best = (0..100).fold(0, |best, s| if scores[s] > scores[best] { s } else { best });
            let hits = cells.iter().filter(|cell| cell.secret as usize == best);
            right += hits.map(|cell| cell.count).sum::<u64>();
        }
        right as f64 / judge.total() as f64
    };
    for metric in [Metric::Euclidean, Metric::Manhattan, Metric::Hamming] {
        let transform = TransformKind::Scaled;
        let [class_wise, vote] = [false, true].map(|vote| accuracy(metric, transform, vote));
        println!(
            "{}: class-wise {class_wise:.3}, vote {vote:.3}",
            metric.name()
        );
        if metric == Metric::Hamming {
            assert!(class_wise > 0.69 && vote > 0.69);
        }
    }
}
