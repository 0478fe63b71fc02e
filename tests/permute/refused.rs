//! What is refused, and that nothing is half-written.

use super::{files, line};
use crate::common::Place;

#[test]
fn what_cannot_be_done_is_refused_and_nothing_is_written() {
    let blank = "x,city,v\n1,A,a\n2, ,b\n3,A,c\n";
    let place = Place::with_log(line(20))
        .file("blank.csv", blank)
        .file("ragged.csv", "x,v\n1,2\n3\n")
        .file("empty.csv", "x,v\n")
        .file("open.csv", "x,v\n1,2\n3,\"4\n5,6\n")
        .file("groups.csv", "group,row\na,1\na,21\n")
        .file("edges.csv", "from,to\nn1,n2\nn1,nobody\n")
        .file("there.csv", "mine\n");
    let before = files(&place);
    let base = ["permute", "log.csv", "--move", "illness"];
    let out = ["--out", "out.csv"];
    let line = ["--groups", "distance", "--by", "x", "--radius", "1"];
    let alpha = ["--alpha", "1"];
    let refuse = |parts: &[&[&str]], words: &[&str]| {
        place.refuses(&parts.concat(), words);
        assert_eq!(files(&place), before, "{parts:?}");
    };
    for bad in ["-1", "nan", "inf"] {
        let option = format!("--alpha={bad}");
        refuse(&[&base, &out, &line, &[&option]], &["alpha", "positive"]);
    }
    let continuous = ["--randomizer", "laplace(scale=1)", "--values", "0,1"];
    refuse(
        &[&base, &out, &line, &alpha, &continuous],
        &["laplace", "continuous", "geometric"],
    );
    refuse(
        &[&base, &out, &line, &alpha, &["--delta", "1e-9"]],
        &["--delta", "1000000"],
    );
    refuse(
        &[&base, &["--out", "log.csv", "--force"], &line, &alpha],
        &["log.csv", "is an input"],
    );
    refuse(
        &[&base, &["--out", "./log.csv"], &line, &alpha],
        &["is an input"],
    );
    refuse(
        &[&base, &["--out", "there.csv"], &line, &alpha],
        &["already exists", "--force"],
    );
    refuse(
        &[&base, &["--out", "/dev/null", "--force"], &line, &alpha],
        &["not a regular file"],
    );
    refuse(
        &[&base, &["--out", "no/out.csv"], &line, &alpha],
        &["no such directory"],
    );
    refuse(
        &[&base, &["--out", "out.csv.gz"], &line, &alpha],
        &["not compressed"],
    );
    refuse(
        &[&base, &out, &line, &alpha, &["--report", "./out.csv"]],
        &["another output"],
    );
    refuse(
        &[
            &base,
            &out,
            &alpha,
            &["--groups", "file", "--group-file", "groups.csv"],
        ],
        &["groups.csv, row 3", "21", "1 to 20"],
    );
    refuse(
        &[
            &base,
            &out,
            &alpha,
            &[
                "--groups",
                "path",
                "--edges",
                "edges.csv",
                "--id",
                "name",
                "--radius",
                "1",
            ],
        ],
        &["edges.csv, row 3", "nobody"],
    );
    refuse(
        &[
            &base,
            &out,
            &alpha,
            &[
                "--groups",
                "path",
                "--edges",
                "edges.csv",
                "--radius",
                "1.5",
            ],
        ],
        &["whole"],
    );
    refuse(
        &[
            &base,
            &out,
            &alpha,
            &["--groups", "nearest", "--by", "x", "--size", "21"],
        ],
        &["21 rows", "20"],
    );
    refuse(
        &[
            &base,
            &out,
            &alpha,
            &["--groups", "distance", "--by", "x", "--radius=-1"],
        ],
        &["radius", "at least 0"],
    );
    refuse(
        &[
            &base,
            &out,
            &alpha,
            &["--groups", "distance", "--by", "name", "--radius", "1"],
        ],
        &["log.csv, row 2", "n0", "not a finite number"],
    );
    refuse(
        &[
            &base,
            &out,
            &alpha,
            &["--groups", "distance", "--by", "y", "--radius", "1"],
        ],
        &["--by y", "no such column", "name, x, illness"],
    );
    refuse(
        &[&base, &out, &alpha, &["--groups", "distance", "--by", "x"]],
        &["needs --radius"],
    );
    refuse(
        &[&base, &out, &line, &alpha, &["--size", "3"]],
        &["--size", "does not apply to"],
    );
    refuse(
        &[
            &base,
            &out,
            &line,
            &alpha,
            &["--order", "sweep", "--move", "x"],
        ],
        &["must stay"],
    );
    refuse(
        &[&base, &out, &line, &alpha, &["--delta", "0"]],
        &["--delta", "between"],
    );
    refuse(
        &[&base, &out, &line, &alpha, &["--epsilon", "0"]],
        &["--epsilon", "positive"],
    );
    refuse(
        &[
            &base,
            &out,
            &alpha,
            &["--groups", "equal", "--by", "name", "--order", "sweep"],
        ],
        &["sweep", "numeric"],
    );
    let other = |file: &str, more: &[&str], words: &[&str]| {
        let start = ["permute", file, "--move", "v", "--alpha", "1"];
        refuse(&[&start, &out, more], words);
    };
    other(
        "blank.csv",
        &["--groups", "equal", "--by", "city"],
        &["blank.csv, row 3, column city", "is blank"],
    );
    other(
        "ragged.csv",
        &["--groups", "equal", "--by", "x"],
        &["ragged.csv, row 3", "1 fields"],
    );
    other(
        "empty.csv",
        &["--groups", "equal", "--by", "x"],
        &["has no rows"],
    );
    other(
        "open.csv",
        &["--groups", "equal", "--by", "x"],
        &["open.csv, row 3", "quote"],
    );
    other(
        "missing.csv",
        &["--groups", "equal", "--by", "x"],
        &["no such file"],
    );
}
