//! What would need more memory, disk or threads than there are is refused, and nothing is lost.

use std::process::Command;

use crate::common::{Place, numeric_log};

/// A zstd file of 20 kB that unpacks to so many MiB of one byte.
fn packed(mib: usize, byte: u8) -> Vec<u8> {
    let mut file = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x50];
    let blocks = 8 * mib;
    for at in 1..=blocks {
        // 128 KiB of one repeated byte; the last block is marked.
        let head = (128u32 << 10) << 3 | 1 << 1 | u32::from(at == blocks);
        file.extend_from_slice(&head.to_le_bytes()[..3]);
        file.push(byte);
    }
    file
}

/// Runs the program in a shell, after what prepares its process.
#[cfg(unix)]
fn in_shell(place: &Place, prepare: &str, arguments: &str) -> (i32, String, String) {
    let program = place.command();
    let run = Command::new("sh")
        .current_dir(place.path())
        .arg("-c")
        .arg(format!(
            "{prepare}; exec {} {arguments}",
            program.get_program().to_string_lossy()
        ))
        .output()
        .expect("a shell");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        run.status.code().unwrap_or(-1),
        text(&run.stdout),
        text(&run.stderr),
    )
}

#[test]
fn packed_text_that_unpacks_to_gigabytes_is_refused() {
    let place = Place::new()
        .file("matrix.csv.zst", packed(600, b'1'))
        .file("good.csv", "0.5,0.5\n0.25,0.75\n")
        .file("log.csv", "secret,b\n1,2\n2,3\n");
    let too_long = ["matrix.csv.zst", "480 MiB"];
    place.refuses(&["channel", "matrix.csv.zst"], &too_long);
    place.refuses(
        &["channel", "good.csv", "--gain", "matrix.csv.zst"],
        &too_long,
    );
    place.refuses(
        &[
            "shuffle",
            "reidentify",
            "--target",
            "matrix.csv.zst",
            "--decoys",
            "matrix.csv.zst",
            "--n",
            "3",
        ],
        &too_long,
    );
    place.refuses(
        &["estimate", "log.csv", "--secret-map", "matrix.csv.zst"],
        &too_long,
    );
}

/// A log of rows at whole numbers.
#[cfg(target_os = "linux")]
fn line_of_points(rows: usize) -> String {
    let rows: String = (0..rows).map(|row| format!("{row},{row}\n")).collect();
    "x,y\n".to_owned() + &rows
}

/// All rows in reach of each other would need 1.6 GB; 400 MB were not enough to find that out.
#[cfg(target_os = "linux")]
#[test]
fn groups_of_everything_are_refused_before_they_are_made() {
    let place = Place::with_log(line_of_points(20_000));
    let arguments = "permute log.csv --out out.csv --move y --groups distance --by x --radius 1e9 --alpha 1 --threads 1";
    let (code, out, err) = in_shell(&place, "ulimit -v 400000", arguments);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("more than 300000000 rows in total"), "{err}");
    assert_eq!(out, "");
}

#[test]
fn a_table_has_no_more_columns_than_a_log() {
    let line = "1,".repeat(100_000) + "1\n";
    let place = Place::new().file("wide.csv", line);
    let shuffle = [
        "--move", "1", "--groups", "equal", "--by", "2", "--alpha", "1",
    ];
    let permute = [&["permute", "wide.csv", "--no-header"][..], &shuffle].concat();
    place.refuses(
        &permute,
        &[
            "wide.csv",
            "100001 columns, more than 100000",
            "--delimiter",
        ],
    );
    place.refuses(
        &["estimate", "wide.csv"],
        &["100001 columns, more than 100000"],
    );
}

/// One thread: each reserves addresses of its own.
#[cfg(target_os = "linux")]
#[test]
fn memory_that_is_not_there_is_an_error() {
    let place = Place::with_log(line_of_points(5_500));
    for arguments in [
        "channel 'randomized-response(epsilon=1, secrets=10000000)' --threads 1",
        "permute log.csv --out out.csv --move y --groups distance --by x --radius 1e9 --alpha 1 --threads 1",
    ] {
        let (code, out, err) = in_shell(&place, "ulimit -v 200000", arguments);
        assert_eq!(code, 2, "{arguments}: {err}");
        assert!(err.contains("not enough memory"), "{arguments}: {err}");
        assert_eq!(out, "", "{arguments}");
    }
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1);
}

#[test]
fn too_many_secrets_are_refused_before_they_are_listed() {
    let place = Place::new();
    let mechanism = "randomized-response(epsilon=1, secrets=1e9)";
    place.refuses(
        &["channel", mechanism],
        &["with 1000000000 secrets", "too many"],
    );
    let words = ["1000000000 secrets are too many to list"];
    let shuffle = |question| ["shuffle", question, "--randomizer", mechanism, "--n", "10"];
    place.refuses(&shuffle("reidentify"), &words);
    // Its values are alike, so one of them is enough.
    let answer = place.json(&shuffle("vulnerability"));
    let prior = answer["rows"][0]["prior"].as_f64().unwrap();
    assert!((prior - 1e-9).abs() < 1e-24, "{answer}");
}

#[cfg(target_os = "linux")]
#[test]
fn help_that_cannot_be_written_is_an_error() {
    let (code, _, err) = in_shell(&Place::new(), ":", "--help > /dev/full");
    assert_eq!(code, 2);
    assert!(err.starts_with("error: standard output: "), "{err}");
    assert_eq!(err.lines().count(), 1, "{err}");
}

#[cfg(target_os = "linux")]
#[test]
fn closed_standard_output_is_an_error() {
    let place = Place::with_log(numeric_log(60));
    for arguments in [
        "estimate log.csv",
        "check log.csv",
        "--help",
        "estimate --help",
        "--version",
    ] {
        let (code, out, err) = in_shell(&place, "exec >&-", arguments);
        assert_eq!((code, out.as_str()), (2, ""), "{arguments}: {err}");
        let errors: Vec<&str> = err
            .lines()
            .filter(|line| line.starts_with("error"))
            .collect();
        assert_eq!(
            errors,
            ["error: standard output: is closed"],
            "{arguments}: {err}"
        );
    }
    // Who does not need it is not asked for it, and the null device is not a closed one.
    let (code, _, err) = in_shell(&place, "exec >&-", "estimate log.csv --output report.txt");
    assert_eq!(code, 0, "{err}");
    assert!(place.path().join("report.txt").metadata().unwrap().len() > 100);
    for device in [">/dev/null", "<>/dev/null 1<>/dev/null"] {
        let (code, _, err) = in_shell(&place, ":", &format!("estimate log.csv {device}"));
        assert_eq!(code, 0, "{device}: {err}");
    }
}

/// Nothing can be created there, whoever asks.
#[cfg(target_os = "linux")]
#[test]
fn messages_of_unwritable_files_name_the_file_that_was_asked_for() {
    let place = Place::with_log(numeric_log(60));
    let run = place.run(&["estimate", "log.csv", "--html", "/proc/page.html"]);
    let err = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(2), "{err}");
    assert!(
        err.contains("/proc/page.html") && err.contains("cannot be written"),
        "{err}"
    );
    assert!(!err.contains(".part"), "{err}");
}

/// Files may have 1 kB at most, and what would be longer is an error instead of a signal.
#[cfg(target_os = "linux")]
#[test]
fn a_page_that_cannot_be_written_does_not_lose_the_report() {
    let place = Place::with_log(numeric_log(60));
    let (code, out, err) = in_shell(
        &place,
        "trap '' XFSZ; ulimit -f 1",
        "estimate log.csv --full --html page.html",
    );
    assert_eq!(code, 2, "{err}");
    assert!(out.contains("Bayes risk"), "{out}");
    assert!(
        err.contains("page.html") && err.contains("cannot be written"),
        "{err}"
    );
    let left = std::fs::read_dir(place.path()).unwrap().count();
    assert_eq!(left, 1, "a temporary file is left");
}

#[cfg(unix)]
#[test]
fn a_file_that_is_replaced_keeps_its_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::with_log("city,place\na,1\na,2\na,3\n").file("out.csv", "");
    let out = place.path().join("out.csv");
    std::fs::set_permissions(&out, std::fs::Permissions::from_mode(0o640)).unwrap();
    let shuffle = [
        "permute", "log.csv", "--move", "place", "--groups", "equal", "--by", "city", "--alpha",
        "1", "--out", "out.csv", "--force",
    ];
    let run = place.run(&shuffle);
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    assert_eq!(out.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 2);
}

/// Names have at most 255 bytes; what is added to a temporary one must not count.
#[test]
fn files_may_have_the_longest_names() {
    let place = Place::with_log(numeric_log(60));
    for letter in ["n", "é"] {
        let name = format!("{}.html", letter.repeat(250 / letter.len()));
        let run = place.run(&["estimate", "log.csv", "--quick", "--html", &name]);
        let error = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "{error}");
        assert!(place.path().join(&name).metadata().unwrap().len() > 1000);
    }
}

#[cfg(unix)]
#[test]
fn output_goes_through_a_symbolic_link() {
    use std::os::unix::fs::symlink;
    let place = Place::new().file("there.csv", "old");
    std::fs::create_dir(place.path().join("logs")).unwrap();
    symlink("there.csv", place.path().join("link.csv")).unwrap();
    symlink("logs/new.csv", place.path().join("nowhere.csv")).unwrap();
    symlink("circle.csv", place.path().join("circle.csv")).unwrap();
    let simulate = |file| {
        let mechanism = "randomized-response(epsilon=1, secrets=2)";
        place.run(&["simulate", mechanism, "--rows", "5", "-o", file])
    };
    for (link, target) in [("link.csv", "there.csv"), ("nowhere.csv", "logs/new.csv")] {
        assert!(simulate(link).status.success());
        assert!(place.path().join(link).is_symlink(), "{link}");
        let text = std::fs::read_to_string(place.path().join(target)).unwrap();
        assert!(text.starts_with("secret,"), "{text}");
    }
    let run = simulate("circle.csv");
    assert_eq!(run.status.code(), Some(2));
    assert!(place.path().join("circle.csv").is_symlink());
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 5);
}

#[test]
fn figures_that_nothing_can_compute_are_refused_at_once() {
    let place = Place::new()
        .file("p.csv", "a,1\nb,2\n")
        .file("q.csv", "a,2\nb,1\n");
    let response = "--randomizer randomized-response(epsilon=1,secrets=3)";
    let most = u64::MAX;
    for question in [
        format!("shuffle information --target p.csv --decoys q.csv --n 10 --samples {most}"),
        format!("shuffle vulnerability {response} --n 10 --samples {most}"),
    ] {
        let arguments: Vec<&str> = question.split(' ').collect();
        place.refuses(&arguments, &["--samples", "at most"]);
    }
    place.refuses(&["bounds", "ldp(epsilon=0..1:1000000)"], &["100000"]);
    let private = format!("shuffle privacy {response} --at-epsilon 0.1 --n 1e15");
    let private: Vec<&str> = private.split(' ').collect();
    place.refuses(&private, &["--n", "10^9"]);
    for question in [
        "shuffle vulnerability --values 3 --keep 0.5",
        &format!("shuffle vulnerability {response} --samples 100"),
        "shuffle information --target p.csv --decoys q.csv --samples 100",
        "shuffle reidentify --target p.csv --decoys q.csv",
    ] {
        let mut arguments: Vec<&str> = question.split(' ').collect();
        arguments.extend(["--n", "1e15"]);
        let run = place.run(&arguments);
        let error = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "{arguments:?}: {error}");
    }
}

#[test]
fn groups_that_no_memory_holds_are_refused_at_once() {
    let rows: String = (0..20_000)
        .map(|row| format!("{row},{}\n", row * 7 % 1000))
        .collect();
    let place = Place::with_log("x,y\n".to_owned() + &rows);
    let words = "log.csv --move y --groups nearest --by x --size 20000 --alpha 1";
    let mut arguments = vec!["permute"];
    arguments.extend(words.split(' '));
    place.refuses(&arguments, &["too many for memory"]);
}

#[test]
fn millions_of_secrets_are_drawn_from_without_listing_them() {
    let place = Place::new();
    let run = place.run(&[
        "simulate",
        "deterministic(secrets=1e15, modulus=10)",
        "--rows",
        "50",
    ]);
    assert!(run.status.success());
    let text = String::from_utf8(run.stdout).unwrap();
    assert_eq!(text.lines().count(), 51);
    for line in text.lines().skip(1) {
        let (secret, rest) = line.split_once(',').unwrap();
        assert!(secret.ends_with(rest), "{line}");
    }
}

/// The second part is a pipe, which is waited for: the first is written to after it was read.
#[cfg(unix)]
#[test]
fn a_file_that_changes_while_it_is_read_is_an_error() {
    use std::process::Stdio;
    type Change = fn(&std::path::Path);
    let changes: [(&str, Change); 3] = [
        ("shorter", |log| {
            std::fs::write(log, "secret,x\na,1\n").unwrap()
        }),
        ("grew", |log| std::fs::write(log, numeric_log(900)).unwrap()),
        ("vanished", |log| std::fs::remove_file(log).unwrap()),
    ];
    for (word, change) in changes {
        let place = Place::with_log(numeric_log(300));
        let pipe = place.path().join("pipe.csv");
        assert!(
            Command::new("mkfifo")
                .arg(&pipe)
                .status()
                .unwrap()
                .success()
        );
        let program = place.command();
        let child = Command::new(program.get_program())
            .current_dir(place.path())
            .args(["estimate", "--quick", "log.csv", "pipe.csv"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Opens once the program has read the log and opens the pipe.
        let mut writer = std::fs::OpenOptions::new().write(true).open(&pipe).unwrap();
        change(&place.path().join("log.csv"));
        std::io::Write::write_all(&mut writer, numeric_log(300).as_bytes()).unwrap();
        drop(writer);
        let run = child.wait_with_output().unwrap();
        let message = String::from_utf8(run.stderr).unwrap();
        assert_eq!(run.status.code(), Some(2), "{message}");
        assert!(
            message.contains(word) && message.contains("log.csv"),
            "{message}"
        );
    }
}

/// A limit of processes does not bind root; one of address space does, as a thread needs a stack.
#[cfg(target_os = "linux")]
#[test]
fn without_threads_there_is_a_message() {
    let place = Place::with_log(numeric_log(60))
        .file("p.csv", "a,1\nb,2\n")
        .file("matrix.csv", "0.5,0.5\n0.25,0.75\n");
    for arguments in [
        "estimate log.csv --quick",
        "bounds 'ldp(epsilon=0..1:50)'",
        "channel matrix.csv",
        "shuffle vulnerability --values 3 --keep 0.5 --n 100",
        "permute log.csv --move time --groups equal --by secret --alpha 1",
        "simulate 'laplace(scale=1, secrets=2)' --rows 5",
        "check log.csv",
        "estimate - --follow < log.csv",
        "confusion --tp 90 --missed 10 --fp 10 --tn 90",
        "plan --claim 'ldp(1)' --detect epsilon=2",
        "compare log.csv log.csv --quick",
        "probe --classes a,b -n 2 -- cat",
        "probe --spawn --classes a,b -n 2 -- cat",
        "shuffle privacy --randomizer 'laplace(scale=1, secrets=2)' --n 5 --at-epsilon 1",
    ] {
        // A stack of 1 TB fits no address space of 4 GB.
        let (code, _, err) = in_shell(
            &place,
            "ulimit -v 4000000; export RUST_MIN_STACK=1000000000000",
            arguments,
        );
        assert!(
            code == 0 || code == 2 || code == 3,
            "{arguments}: {code}: {err}"
        );
        assert!(!err.contains("panicked"), "{arguments}: {err}");
    }
}

/// Each column had tables of its own: 5,000 columns took 16 GB.
#[cfg(feature = "parquet")]
#[test]
fn thousands_of_columns_of_a_parquet_file_are_read_in_little_memory() {
    use crate::common::columns::{batch, plain_parquet};
    use arrow::array::{ArrayRef, Float64Array};
    use std::sync::Arc;

    let names: Vec<String> = (0..3_000).map(|at| format!("c{at}")).collect();
    let column: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 2.0]));
    let columns = names.iter().map(|name| (name.as_str(), column.clone()));
    let file = plain_parquet(&batch(columns.collect()));
    let place = Place::new().file("wide.parquet", file);
    let (code, _, err) = in_shell(
        &place,
        "ulimit -v 4000000",
        "check wide.parquet --secret c0",
    );
    assert_eq!(code, 0, "{err}");
}
