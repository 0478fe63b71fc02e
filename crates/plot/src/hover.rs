//! Values where a pointer rests: an invisible area over each mark, with the title that a browser shows there.

use libm::{floor, log10};

use super::text::escape;

/// An area with what is said of it.
pub(super) struct Tip {
    pub corners: [(i32, i32); 2],
    pub text: String,
}

/// The picture with its tips, on top of all else.
pub(super) fn with_tips(mut drawn: String, tips: &[Tip]) -> String {
    const END: &str = "</svg>";
    let Some(end) = drawn.rfind(END).filter(|_| !tips.is_empty()) else {
        return drawn;
    };
    let mut areas = "<g class=\"tips\" fill=\"none\" pointer-events=\"all\">\n".to_owned();
    for Tip { corners, text } in tips {
        let [(x0, y0), (x1, y1)] = corners;
        areas += &format!(
            "<rect x=\"{x0}\" y=\"{y0}\" width=\"{}\" height=\"{}\"><title>{}</title></rect>\n",
            x1 - x0,
            y1 - y0,
            // Labels may hold anything; lines are ours.
            text.split('\n').map(escape).collect::<Vec<_>>().join("\n"),
        );
    }
    areas += "</g>\n";
    drawn.insert_str(end, &areas);
    drawn
}

/// A number with four digits.
pub(super) fn short(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e7).contains(&size) {
        return format!("{value:.2e}").replace('-', "−");
    }
    let decimals = (3.0 - floor(log10(size))).clamp(0.0, 7.0) as usize;
    let text = format!("{value:.decimals$}").replace('-', "−");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// A number with its limits.
pub(super) fn with_limits(
    point: Option<f64>,
    lower: Option<f64>,
    upper: Option<f64>,
) -> Option<String> {
    let numbers = [point, lower, upper];
    if numbers.iter().flatten().any(|number| !number.is_finite()) {
        return None;
    }
    let limits = match (lower, upper) {
        (Some(lower), Some(upper)) => Some(format!("{} to {}", short(lower), short(upper))),
        (Some(lower), None) => Some(format!("at least {}", short(lower))),
        (None, Some(upper)) => Some(format!("at most {}", short(upper))),
        (None, None) => None,
    };
    match (point.map(short), limits) {
        (Some(point), Some(limits)) => Some(format!("{point} ({limits})")),
        (point, limits) => point.or(limits),
    }
}

/// The height of a line that goes to the right only; at a step that after it.
pub(super) fn between(points: &[(f64, f64)], x: f64) -> Option<f64> {
    if points.windows(2).any(|two| two[0].0 > two[1].0) {
        return None;
    }
    let after = points.partition_point(|point| point.0 <= x);
    let (x0, y0) = *points.get(after.checked_sub(1)?)?;
    let found = match points.get(after) {
        Some(&(x1, y1)) => y0 + (y1 - y0) * (x - x0) / (x1 - x0),
        None => (x0 == x).then_some(y0)?,
    };
    found.is_finite().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_where_it_is() {
        let line = [(0.0, 0.0), (1.0, 1.0), (1.0, 3.0), (3.0, 3.0)];
        let at = |x| between(&line, x);
        assert_eq!(
            [at(0.5), at(1.0), at(3.0)],
            [Some(0.5), Some(3.0), Some(3.0)]
        );
        assert_eq!([at(-0.1), at(3.1)], [None; 2]);
        assert_eq!(between(&[(1.0, 0.0), (0.0, 0.0)], 0.5), None);
    }

    #[test]
    fn numbers_are_short() {
        let texts = [0.0, 0.123_456, -12.5, 123_456.7, 1e-9].map(short);
        assert_eq!(texts, ["0", "0.1235", "−12.5", "123457", "1.00e−9"]);
        let limits = with_limits(Some(0.5), Some(0.4), None);
        assert_eq!(limits.as_deref(), Some("0.5 (at least 0.4)"));
        assert_eq!(with_limits(Some(f64::NAN), None, None), None);
    }
}
