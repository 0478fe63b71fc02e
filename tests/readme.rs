//! The README's examples print what it says they print.

#[test]
fn the_examples_of_the_readme_are_what_the_program_prints() {
    trycmd::TestCases::new().case("README.md");
}
