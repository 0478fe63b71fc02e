//! Many short lists of rows in one contiguous vector.

/// Lists of rows, stored one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lists {
    /// The offset of each list in `rows`, and the end of the last.
    starts: Vec<usize>,
    rows: Vec<u32>,
}

impl Lists {
    pub fn with_capacity(lists: usize, rows: usize) -> Self {
        let mut starts = Vec::with_capacity(lists + 1);
        starts.push(0);
        Lists {
            starts,
            rows: Vec::with_capacity(rows),
        }
    }

    /// Appends a list.
    pub fn push(&mut self, rows: impl IntoIterator<Item = u32>) {
        self.rows.extend(rows);
        self.starts.push(self.rows.len());
    }

    /// Builds the lists from pairs (list, row); each list is sorted and has no duplicates.
    pub fn from_pairs(lists: usize, mut pairs: Vec<(u32, u32)>) -> Self {
        pairs.sort_unstable();
        pairs.dedup();
        let mut made = Lists::with_capacity(lists, pairs.len());
        let mut pairs = pairs.into_iter().peekable();
        for list in 0..lists as u32 {
            while let Some((_, row)) = pairs.next_if(|(of, _)| *of == list) {
                made.rows.push(row);
            }
            made.starts.push(made.rows.len());
        }
        made
    }

    /// For each row, the lists that contain it.
    pub fn inverse(&self, rows: usize) -> Lists {
        let mut starts = vec![0usize; rows + 1];
        for row in &self.rows {
            starts[*row as usize + 1] += 1;
        }
        for at in 0..rows {
            starts[at + 1] += starts[at];
        }
        let mut next = starts.clone();
        let mut holding = vec![0u32; self.rows.len()];
        for list in 0..self.len() {
            for row in self.get(list) {
                let place = &mut next[*row as usize];
                holding[*place] = list as u32;
                *place += 1;
            }
        }
        Lists {
            starts,
            rows: holding,
        }
    }

    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The number of entries of all lists.
    pub fn entries(&self) -> usize {
        self.rows.len()
    }

    pub fn get(&self, list: usize) -> &[u32] {
        &self.rows[self.starts[list]..self.starts[list + 1]]
    }

    pub fn size(&self, list: usize) -> usize {
        self.starts[list + 1] - self.starts[list]
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        (0..self.len()).map(|list| self.get(list))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_their_inverse() {
        let lists = Lists::from_pairs(4, vec![(0, 2), (3, 1), (0, 1), (3, 1), (1, 0)]);
        let all: Vec<&[u32]> = lists.iter().collect();
        assert_eq!(all, [&[1, 2][..], &[0], &[], &[1]]);
        let inverse = lists.inverse(3);
        let all: Vec<&[u32]> = inverse.iter().collect();
        assert_eq!(all, [&[1][..], &[0, 3], &[0]]);
    }
}
