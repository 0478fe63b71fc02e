//! Breadth-first walks over rows that share a group.

use std::borrow::Cow;

use super::groups::Groups;
use super::lists::Lists;

/// The graph of neighboring rows: {i, j} with j ∈ G_i or, if groups do not belong to single rows, any two rows
/// of a group.
pub(super) struct Graph<'a> {
    lists: Cow<'a, Lists>,
    links: Links<'a>,
    rows: usize,
}

/// The lists whose rows are neighbors of a row.
enum Links<'a> {
    One(&'a [u32]),
    Own,
    Many(Lists),
}

impl<'a> Graph<'a> {
    pub fn new(groups: &'a Groups) -> Self {
        let rows = groups.rows();
        let (lists, links) = match &groups.of_row {
            Some(of_row) if groups.mutual => (Cow::Borrowed(&groups.lists), Links::One(of_row)),
            Some(of_row) => {
                let mut pairs = Vec::with_capacity(2 * groups.memberships());
                for (row, group) in (0u32..).zip(of_row) {
                    for &member in groups.members(*group as usize) {
                        pairs.extend([(row, member), (member, row)]);
                    }
                }
                (Cow::Owned(Lists::from_pairs(rows, pairs)), Links::Own)
            }
            None => (
                Cow::Borrowed(&groups.lists),
                Links::Many(groups.lists.inverse(rows)),
            ),
        };
        Graph { lists, links, rows }
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    pub fn lists(&self) -> usize {
        self.lists.len()
    }

    pub fn list(&self, list: u32) -> &[u32] {
        self.lists.get(list as usize)
    }

    /// Calls `with` for every list that contains neighbors of a row.
    pub fn links(&self, row: u32, mut with: impl FnMut(u32)) {
        match &self.links {
            Links::One(of_row) => with(of_row[row as usize]),
            Links::Own => with(row),
            Links::Many(lists) => lists.get(row as usize).iter().for_each(|list| with(*list)),
        }
    }

    /// An upper bound on the number of neighbors of a row: a neighbor in several groups counts several times.
    pub fn degree(&self, row: u32) -> usize {
        let mut degree = 0;
        self.links(row, |list| degree += self.lists.size(list as usize));
        degree
    }
}

/// A breadth-first walk that can be restarted without clearing its memory.
pub(super) struct Walk<'a, 'g> {
    graph: &'a Graph<'g>,
    /// For each row and each list, the number of the last walk that saw it.
    rows: Vec<u32>,
    lists: Vec<u32>,
    number: u32,
}

impl<'a, 'g> Walk<'a, 'g> {
    pub fn new(graph: &'a Graph<'g>) -> Self {
        Walk {
            graph,
            rows: vec![0; graph.rows()],
            lists: vec![0; graph.lists()],
            number: 0,
        }
    }

    /// Forgets what was seen.
    pub fn restart(&mut self) {
        if self.number == u32::MAX {
            self.rows.fill(0);
            self.lists.fill(0);
            self.number = 0;
        }
        self.number += 1;
    }

    pub fn has_seen(&self, row: u32) -> bool {
        self.rows[row as usize] == self.number
    }

    /// Appends to `order` all rows that can be reached from an unseen row and were not seen, breadth first.
    /// `sort` orders the new neighbors of a row. Returns where each level starts in `order`.
    pub fn from(
        &mut self,
        start: u32,
        order: &mut Vec<u32>,
        mut sort: impl FnMut(&mut [u32]),
    ) -> Vec<usize> {
        let (graph, number) = (self.graph, self.number);
        let mut levels = vec![order.len()];
        let mut at = order.len();
        self.rows[start as usize] = number;
        order.push(start);
        let mut level_end = order.len();
        while at < order.len() {
            if at == level_end {
                levels.push(at);
                level_end = order.len();
            }
            let row = order[at];
            at += 1;
            let first_new = order.len();
            graph.links(row, |list| {
                // All rows of a list that was met before have been seen.
                if std::mem::replace(&mut self.lists[list as usize], number) == number {
                    return;
                }
                for &next in graph.list(list) {
                    if std::mem::replace(&mut self.rows[next as usize], number) != number {
                        order.push(next);
                    }
                }
            });
            sort(&mut order[first_new..]);
        }
        levels
    }
}
