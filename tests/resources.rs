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
        .file("log.csv", "a,b\n1,2\n2,3\n");
    let too_long = ["matrix.csv.zst", "512 MiB"];
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
}

#[test]
fn too_many_secrets_are_refused_before_they_are_listed() {
    let place = Place::new();
    let mechanism = "randomized-response(epsilon=1, secrets=1e9)";
    let words = ["1000000000 secrets are too many to list"];
    place.refuses(&["channel", mechanism], &words);
    for question in ["vulnerability", "information", "reidentify"] {
        place.refuses(
            &["shuffle", question, "--randomizer", mechanism, "--n", "10"],
            &words,
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn help_that_cannot_be_written_is_an_error() {
    let (code, ..) = in_shell(&Place::new(), ":", "--help > /dev/full");
    assert_eq!(code, 2);
}

/// Files may have 1 kB at most, and what would be longer is an error instead of a signal.
#[cfg(target_os = "linux")]
#[test]
fn a_page_that_cannot_be_written_does_not_lose_the_report() {
    let place = Place::with_log(numeric_log(60));
    let (code, out, err) = in_shell(
        &place,
        "trap '' XFSZ; ulimit -f 1",
        "estimate log.csv --html page.html",
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
