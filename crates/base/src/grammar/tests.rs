use proptest::prelude::*;

use super::*;

fn error(text: &str) -> String {
    Call::parse(text).expect_err(text).to_string()
}

fn value(text: &str) -> Value {
    let call = Call::parse(&format!("f(x={text})")).expect(text);
    call.arguments[0].value.clone()
}

#[test]
fn a_name_alone_is_a_call_without_arguments() {
    for text in ["laplace", " laplace ", "laplace()", "laplace ( )"] {
        let call = Call::parse(text).unwrap();
        assert_eq!((call.name.as_str(), call.arguments.len()), ("laplace", 0));
    }
}

#[test]
fn numbers_are_read_as_rust_reads_them() {
    for (text, expected) in [
        ("1e-5", 1e-5),
        (".5", 0.5),
        ("-3", -3.0),
        ("+3", 3.0),
        ("2.", 2.0),
        ("1E+3", 1000.0),
        ("0.1", 0.1),
    ] {
        assert_eq!(value(text), Value::Number(expected), "{text}");
    }
}

#[test]
fn ranges_grids_words_and_calls_are_told_apart() {
    assert_eq!(value("0..9"), Value::Range { from: 0, to: 9 });
    assert_eq!(value("-3 .. 3"), Value::Range { from: -3, to: 3 });
    assert_eq!(value("same"), Value::Word("same".into()));
    let grid = Value::Grid {
        from: 0.5,
        to: 4.0,
        points: 8,
    };
    assert_eq!(value("0.5..4:8"), grid);
    let Value::Call(call) = value("mixture(laplace(scale=1), 0.5)") else {
        panic!("not a call")
    };
    assert_eq!(call.to_string(), "mixture(laplace(scale=1), 0.5)");
    assert!(matches!(value("laplace()"), Value::Call(_)));
}

#[test]
fn errors_point_at_the_place_and_say_what_to_do() {
    for (text, says) in [
        ("", "the text is empty"),
        ("(x)", "expected a name at character 1, found \"(x)\""),
        ("laplace(scale 2)", "at character 15, found \"2)\""),
        (
            "laplace(scale=2",
            "expected \",\" or \")\" at character 16, found the end",
        ),
        ("laplace(scale=)", "expected a value at character 15"),
        ("laplace(scale=2,)", "expected a value at character 17"),
        (
            "laplace(scale=2) x",
            "expected the end at character 18, found \"x\"",
        ),
        ("laplace 2", "expected \"(\" or the end at character 9"),
        ("f(x=1e999)", "1e999 is too large at character 5"),
        ("f(x=-)", "expected a number at character 5"),
        ("f(x=0.5..4)", "the range 0.5..4 needs whole numbers"),
        ("f(x=0..1e300)", "needs whole numbers"),
        (
            "f(x=0..4:1)",
            "whole number of grid points, at least 2, at character 10",
        ),
        ("f(x=0..4:)", "whole number of grid points"),
        ("f(x=-1e308..1e308:3)", "too far apart"),
        ("f(x=1..)", "expected a number at character 8"),
        ("é(ü=$)", "expected a value at character 5, found \"$)\""),
    ] {
        let error = error(text);
        assert!(error.contains(says), "{text:?} gave {error:?}");
        assert!(
            error.contains("hint: ") || error.contains("too "),
            "{error}"
        );
    }
}

#[test]
fn messages_stay_one_short_quote() {
    let long = format!("laplace(scale={}", "2".repeat(10_000));
    assert!(error(&long).len() < 500);
    assert!(!error("f(\u{7}\n\n$)").starts_with("f(\u{7}"));
}

#[test]
fn nesting_is_bounded() {
    let nested = |depth: usize| format!("{}x{}", "f(".repeat(depth), ")".repeat(depth));
    assert!(Call::parse(&nested(MAX_DEPTH)).is_ok());
    assert!(error(&nested(MAX_DEPTH + 1)).contains("nested more than 16 deep"));
    assert!(error(&nested(100_000)).contains("nested more than 16 deep"));
}

#[test]
fn grids_expand_to_every_combination() {
    let call = Call::parse("f(a=0.5..4:8, b=1, c=1..2:2)").unwrap();
    let calls = call.expand_grids(100).unwrap();
    assert_eq!(calls.len(), 16);
    assert_eq!(calls[0].to_string(), "f(a=0.5, b=1, c=1)");
    assert_eq!(calls[1].to_string(), "f(a=0.5, b=1, c=2)");
    assert_eq!(calls[15].to_string(), "f(a=4, b=1, c=2)");
    assert!(call.expand_grids(15).is_err());

    let nested = Call::parse("f(g(x=0..1:3))").unwrap();
    assert_eq!(
        nested.expand_grids(3).unwrap()[1].to_string(),
        "f(g(x=0.5))"
    );
    let endless = Call::parse("f(x=0..1:99999999999)").unwrap();
    assert!(endless.expand_grids(1000).is_err());
    let range = Call::parse("f(secrets=0..9)").unwrap();
    assert_eq!(range.expand_grids(1).unwrap(), [range]);
}

const PARAMETERS: &[Parameter] = &[
    Parameter::positional("epsilon", "ε"),
    Parameter::named("delta", "δ"),
];

fn argument_error(text: &str) -> String {
    let call = Call::parse(text).unwrap();
    Arguments::new(&call, PARAMETERS)
        .and_then(|arguments| {
            arguments.number("epsilon", Bounds::AtLeast(0.0))?;
            arguments.number_if_given("delta", Bounds::Between(0.0, 1.0))
        })
        .expect_err(text)
        .to_string()
}

#[test]
fn arguments_are_matched_by_name_or_place() {
    for text in [
        "dp(epsilon=2, delta=.1)",
        "dp(delta=.1, 2)",
        "dp(2, delta=.1)",
    ] {
        let call = Call::parse(text).unwrap();
        let arguments = Arguments::new(&call, PARAMETERS).unwrap();
        let number = |name| arguments.number(name, Bounds::Above(0.0)).unwrap();
        assert_eq!((number("epsilon"), number("delta")), (2.0, 0.1));
    }
}

#[test]
fn wrong_arguments_are_explained() {
    for (text, says) in [
        (
            "dp(epsilom=1)",
            "its parameters are epsilon and delta\n  hint: did you mean epsilon?",
        ),
        ("dp(eps=1)", "hint: did you mean epsilon?"),
        ("dp(ε=1, δ=1e-5)", "hint: did you mean epsilon?"),
        ("dp(epsilon=1, epsilon=2)", "epsilon is given twice"),
        ("dp(1, epsilon=2)", "epsilon is given twice"),
        (
            "dp(1, 2)",
            "only the first value may stand without its name",
        ),
        ("dp(delta=0.1)", "epsilon is missing"),
        ("dp(epsilon=-1)", "epsilon must be at least 0, got -1"),
        (
            "dp(epsilon=1, delta=2)",
            "delta must be between 0 and 1, got 2",
        ),
        (
            "dp(epsilon=one)",
            "epsilon must be a number, got the word one",
        ),
        (
            "dp(epsilon=1..5)",
            "for a grid, which only `bounds` takes, add the number of values",
        ),
        ("dp(epsilon=1..5:5)", "got the grid 1..5:5"),
    ] {
        let error = argument_error(text);
        assert!(error.contains(says), "{text:?} gave {error:?}");
    }
}

#[test]
fn a_bare_value_needs_a_positional_parameter() {
    let call = Call::parse("laplace(2)").unwrap();
    let error = Arguments::new(&call, &[Parameter::named("scale", "λ")]).unwrap_err();
    assert!(
        error.to_string().contains("write laplace(scale=2)"),
        "{error}"
    );
}

fn a_number() -> impl Strategy<Value = f64> {
    any::<f64>().prop_filter("finite", |number| number.is_finite())
}

fn a_name() -> impl Strategy<Value = String> {
    "[a-zé_]([a-z0-9_/-]|\\.[a-z]){0,8}"
}

fn a_call() -> impl Strategy<Value = Call> {
    let whole = -MAX_WHOLE..=MAX_WHOLE;
    let leaf = prop_oneof![
        a_number().prop_map(Value::Number),
        (whole.clone(), whole).prop_map(|(from, to)| Value::Range { from, to }),
        (-1e300..1e300f64, -1e300..1e300f64, 2..1000usize)
            .prop_map(|(from, to, points)| { Value::Grid { from, to, points } }),
        a_name().prop_map(Value::Word),
        "[^\"]{0,8}".prop_map(Value::Word),
    ];
    let call = |value: BoxedStrategy<Value>| {
        let argument = (proptest::option::of(a_name()), value)
            .prop_map(|(name, value)| Argument { name, value });
        (a_name(), proptest::collection::vec(argument, 0..4))
            .prop_map(|(name, arguments)| Call { name, arguments })
    };
    let value = leaf.prop_recursive(4, 16, 4, move |inner| {
        call(inner.boxed()).prop_map(|call| Value::Call(Box::new(call)))
    });
    call(value.boxed())
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in ".{0,60}") {
        let _ = Call::parse(&text);
    }

    #[test]
    fn no_text_of_the_grammars_own_symbols_makes_it_panic(
        text in "[a-c0-9 ().,=:eE+_é\n-]{0,40}"
    ) {
        let _ = Call::parse(&text).map(|call| call.to_string());
    }

    #[test]
    fn what_is_written_reads_back(call in a_call()) {
        let text = call.to_string();
        prop_assert_eq!(Call::parse(&text), Ok(call), "{}", text);
    }

    #[test]
    fn numbers_print_shortest_and_read_back(number in a_number()) {
        let text = format_number(number);
        prop_assert!(text.len() <= 25, "{}", text);
        prop_assert_eq!(text.parse::<f64>().map(f64::to_bits), Ok(number.to_bits()));
    }
}
