//! Lines as paths with moves along the axes: half as long as lists of points, where these are steps.

/// A polyline or polygon as a path: what stands before its line, and the line. `None` if it is something else.
pub(super) fn of(tag: &str) -> Option<(String, String)> {
    let (attributes, is_closed) = match tag.strip_prefix("<polyline") {
        Some(attributes) => (attributes, false),
        None => (tag.strip_prefix("<polygon")?, true),
    };
    let (before, points) = attributes.split_once(" points=\"")?;
    let points = points.strip_suffix("\"/>")?.trim_end();
    let mut line = String::new();
    let mut last: Option<(i32, i32)> = None;
    for point in points.split(' ') {
        let (x, y) = point.split_once(',')?;
        let (x, y): (i32, i32) = (x.parse().ok()?, y.parse().ok()?);
        line += &match last {
            None => format!("M{x} {y}"),
            Some(from) if from == (x, y) => String::new(),
            Some((from, same)) if same == y => format!("h{}", x - from),
            Some((same, from)) if same == x => format!("v{}", y - from),
            Some((left, top)) => format!("l{} {}", x - left, y - top),
        };
        last = Some((x, y));
    }
    if is_closed {
        line.push('z');
    }
    Some((format!("<path{before}"), line))
}

/// The lines of a grid, which all look alike: one path.
#[derive(Debug, Default)]
pub(super) struct Grid {
    before: String,
    line: String,
}

impl Grid {
    /// Takes a line of the grid.
    pub fn push(&mut self, before: &str, line: &str) {
        before.clone_into(&mut self.before);
        self.line += line;
    }

    /// The lines so far, which are forgotten.
    pub fn take(&mut self) -> Option<(String, String)> {
        let found = std::mem::take(self);
        (!found.line.is_empty()).then_some((found.before, found.line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_become_moves() {
        let tag = "<polygon fill=\"none\" points=\"1,2 5,2 5,9 5,9 3,-4 \"/>";
        let (before, line) = of(tag).expect("a path");
        assert_eq!(
            (&*before, &*line),
            ("<path fill=\"none\"", "M1 2h4v7l-2 -13z")
        );
        assert_eq!(of("<rect x=\"1\"/>"), None);
        assert_eq!(of("<polyline points=\"1,x\"/>"), None);
    }
}
