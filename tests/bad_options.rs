//! Whatever the command line says, the program does it or says what is wrong with it.

use crate::common::{Place, numeric_log};

fn refuses(arguments: &[&str], words: &[&str]) {
    let place = Place::with_log(numeric_log(60));
    let all = [&["estimate", "log.csv"], arguments].concat();
    place.refuses(&all, words);
}

fn refuses_claim(claim: &str, words: &[&str]) {
    let place = Place::with_log(numeric_log(60));
    place.refuses(&["audit", "log.csv", "--claim", claim], words);
}

#[test]
fn an_unknown_claim_is_answered_with_the_nearest() {
    refuses_claim("bayes-securty(0.9)", &["did you mean bayes-security?"]);
    refuses_claim(
        "magic(1)",
        &["magic", "no claim has this name", "usual ones are"],
    );
    refuses_claim("", &["the text is empty", "laplace(scale=2)"]);
    refuses_claim("ldp(epsilon=1", &["expected", "at character", "the end"]);
    refuses_claim("ldp\u{1b}[31m(1)", &["ldp"]);
}

#[test]
fn an_unknown_parameter_is_answered_with_the_known_ones() {
    refuses_claim(
        "ldp(epsilom=1)",
        &["no parameter", "epsilom", "did you mean epsilon?"],
    );
    refuses_claim("laplace(2)", &["laplace", "scale"]);
    refuses_claim("ldp(epsilon=1, epsilon=2)", &["epsilon is given twice"]);
}

#[test]
fn parameters_out_of_range_are_refused() {
    refuses_claim("ldp(epsilon=-1)", &["epsilon must be at least 0, got -1"]);
    refuses_claim(
        "dp(epsilon=1, delta=1.5)",
        &["delta must be between 0 and 1, got 1.5"],
    );
    refuses_claim("laplace(scale=0)", &["scale must be above 0, got 0"]);
    refuses_claim("laplace(scale=1e999)", &["too large"]);
    refuses_claim("advantage(1.5)", &["between 0 and 1, got 1.5"]);
    refuses_claim(
        "ldp(epsilon=1..2:3)",
        &["epsilon must be a number", "grids"],
    );
}

#[test]
fn a_numeric_mechanism_needs_numeric_secrets() {
    refuses_claim(
        "laplace(scale=2)",
        &[
            "laplace",
            "secrets that are numbers",
            "the secret \"a\"",
            "randomized-response",
        ],
    );
}

#[test]
fn a_mechanism_has_the_secrets_that_it_declares() {
    let place = Place::with_log("secret,x\n0,1.5\n1,2.5\n7,1.5\n");
    place.refuses(
        &[
            "audit",
            "log.csv",
            "--claim",
            "laplace(scale=2, secrets=0..3)",
        ],
        &["the whole numbers 0 to 3", "the secret \"7\""],
    );
}

#[test]
fn confidence_is_a_probability_of_at_least_a_half() {
    for level in ["1.5", "1", "0", "0.4", "-0.95", "95", "NaN", "inf"] {
        let option = format!("--confidence={level}");
        refuses(&[&option], &["--confidence", "at least 0.5 and below 1"]);
    }
    refuses(&["--confidence", "high"], &["--confidence", "high"]);
}

#[test]
fn a_margin_is_between_0_and_1() {
    let place = Place::with_log(numeric_log(60));
    for margin in ["-0.1", "1.5", "NaN"] {
        let option = format!("--margin={margin}");
        let arguments = ["audit", "log.csv", "--claim", "advantage(0.5)", &option];
        place.refuses(&arguments, &["--margin", "between 0 and 1"]);
    }
}

#[test]
fn a_prior_is_a_distribution_over_the_secrets() {
    refuses(&["--prior", "flat"], &["--prior flat", "no `=`", "uniform"]);
    refuses(&["--prior", "a=x,b=1"], &["\"x\" is not a number"]);
    refuses(&["--prior", "a=0.5,a=0.5"], &["a is given twice"]);
    refuses(&["--prior", "a=0.5,b=0.6"], &["sum to 1.1, not 1"]);
    refuses(&["--prior", "a=1.5,b=-0.5"], &["is not a probability"]);
    refuses(&["--prior", "a=NaN,b=1"], &["is not a probability"]);
    refuses(
        &["--prior", "a=0.5,z=0.5"],
        &["--prior z=0.5", "no such secret"],
    );
}

#[test]
fn a_resolution_is_a_column_and_a_positive_width() {
    for width in ["0", "-1", "NaN", "inf"] {
        let option = format!("time={width}");
        refuses(
            &["--resolution", &option],
            &["--resolution time=", "positive number"],
        );
    }
    refuses(
        &["--resolution", "time"],
        &["--resolution time", "COLUMN=WIDTH"],
    );
    refuses(
        &["--resolution", "time=wide"],
        &["COLUMN=WIDTH", "for example"],
    );
    refuses(&["--resolution", "tiem=1"], &["--resolution tiem", "time"]);
    refuses(&["--resolution", "time=1,2=5"], &["two resolutions"]);
    refuses(
        &["--resolution", "time=1", "--categorical", "time"],
        &["asked to be numeric"],
    );
    refuses(
        &["--resolution", "time=1e-300"],
        &["row 2, column time", "more bins from 0", "larger width"],
    );
}

#[test]
fn a_delimiter_is_one_character() {
    for delimiter in ["", ";;", "é", "\"", "\n"] {
        refuses(
            &["--delimiter", delimiter],
            &["--delimiter", "one ASCII character"],
        );
    }
    refuses(
        &["--delimiter", ";"],
        &["no column is named `secret`", "secret,time"],
    );
}

#[test]
fn threads_are_a_positive_number() {
    refuses(&["--threads", "0"], &["--threads 0", "between 1 and 1024"]);
    refuses(
        &["--threads", "99999"],
        &["--threads 99999", "between 1 and 1024"],
    );
    refuses(&["--threads=-1"], &["--threads"]);
    refuses(&["--threads", "two"], &["--threads", "two"]);
}

#[test]
fn names_of_scorers_and_formats_are_listed() {
    refuses(&["--scorer", "magic"], &["magic", "frequentist", "knn"]);
    refuses(&["--format", "xml"], &["xml", "markdown"]);
    refuses(&["--seed=-1"], &["--seed"]);
    refuses(&["--header", "--no-header"], &["--header", "--no-header"]);
}

#[test]
fn neighbors_need_numbers() {
    let place = Place::with_log("secret,x\n".to_owned() + &"a,u\nb,v\n".repeat(40));
    for scorer in ["knn", "nearest"] {
        place.refuses(
            &["estimate", "log.csv", "--scorer", scorer],
            &["--scorer", "only labels", "frequentist"],
        );
    }
}

#[test]
fn neighbors_of_more_rows_than_memory_holds_learn_from_fewer() {
    let place = Place::with_log(
        "secret,x,y,n\na,0.5,1.5,1000000000000\nb,0.7,2.5,1000000000000\na,0.1,0.2,5\n",
    );
    let found = place.run(&["estimate", "log.csv", "--count", "n"]);
    assert_eq!(found.status.code(), Some(0));
}

#[test]
fn a_simulation_needs_rows_secrets_and_a_mechanism() {
    let place = Place::new();
    let simulate = |mechanism: &str, rows: &str, words: &[&str]| {
        place.refuses(&["simulate", mechanism, "--rows", rows], words);
    };
    simulate(
        "laplace(scale=2, secrets=3)",
        "0",
        &["--rows 0", "at least 1"],
    );
    simulate("laplace(scale=2, secrets=3)", "1.5", &["--rows", "1.5"]);
    simulate(
        "laplace(scale=2)",
        "5",
        &["secrets are not declared", "secrets=10"],
    );
    simulate("lapalce(scale=2)", "5", &["did you mean laplace?"]);
    simulate(
        "laplace(scale=2, secrets=0)",
        "5",
        &["secrets must be a count, at least 1"],
    );
    simulate("laplace(scale=2, secrets=3..1)", "5", &["3..1 is empty"]);
    simulate(
        "hadamard-response(epsilon=1, secrets=1e12)",
        "5",
        &["too many to list"],
    );
    place.refuses(&["simulate", "laplace(scale=2, secrets=3)"], &["--rows"]);
}

#[test]
fn a_command_and_a_log_must_be_named() {
    let place = Place::new();
    for arguments in [
        &["estimate"][..],
        &["estimat", "log.csv"],
        &["audit", "log.csv"],
        &["--nothing"],
    ] {
        place.refuses(arguments, &[]);
    }
    let output = place.run(&[]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
}

#[test]
fn options_that_nothing_would_read_are_refused() {
    refuses(
        &["--unit", "ns", "--split", "blocks"],
        &["--unit", "independent rows"],
    );
    refuses(
        &["--clock-frequency", "2e9"],
        &["--clock-frequency", "--unit cycles"],
    );
    refuses(&["--design", "one-run"], &["--design", "--scorer given"]);
    let one_run = ["--scorer", "given", "--design", "one-run"];
    for (more, word) in [
        (&["--split", "blocks"][..], "--split"),
        (&["--prior", "empirical"], "--prior"),
        (&["--quick"], "--quick"),
    ] {
        refuses(&[&one_run[..], more].concat(), &[word, "one-run"]);
    }
}

#[test]
fn two_outputs_do_not_share_a_file_nor_replace_an_input() {
    let place = Place::with_log(numeric_log(60)).file("pairs.csv", "0,1\n");
    let claim = ["audit", "log.csv", "--quick", "--claim", "advantage(1)"];
    for (more, words) in [
        (
            &["-o", "x.html", "--html", "x.html"][..],
            &["x.html", "another output"][..],
        ),
        (
            &["--junit", "x.html", "--html", "x.html"],
            &["x.html", "another output"],
        ),
        (
            &["--neighbors-file", "pairs.csv", "--junit", "pairs.csv"],
            &["pairs.csv", "is an input"],
        ),
        (
            &[
                "--neighbors-file",
                "pairs.csv",
                "--html",
                "pairs.csv",
                "--force",
            ],
            &["pairs.csv", "is an input"],
        ),
    ] {
        place.refuses(&[&claim[..], more].concat(), words);
    }
    // Nor what is called as a log, behind a link, packed, or by a command that reads none.
    let place = place.file("other.csv", "0,1\n").file("packed.csv.gz", "x");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("other.csv", place.path().join("link")).expect("a link");
        place.refuses(
            &[&claim[..], &["-o", "link"]].concat(),
            &["seems to be a log"],
        );
    }
    for command in [
        &["bounds", "ldp(1)", "-o", "other.csv"][..],
        &[&claim[..], &["-o", "packed.csv.gz"]].concat(),
        &[&claim[..], &["--junit", "other.csv"]].concat(),
    ] {
        place.refuses(command, &["seems to be a log"]);
    }
    let permute = [
        "permute", "log.csv", "--move", "secret", "--groups", "equal",
    ];
    let more = [
        "--by", "secret", "--alpha", "1", "--out", "o.csv", "-o", "o.csv",
    ];
    place.refuses(
        &[&permute[..], &more].concat(),
        &["o.csv", "another output"],
    );
}
