//! One betting engine for rows that come one after another: of a log that grows, of blocks of measurements, of a
//! mechanism that is asked for samples.
//!
//! | module | contents |
//! | --- | --- |
//! | [`product_bets`] | two laws against a claim: the bet that grows fastest, of rows that are independent and of rows of one block |
//! | [`capital`] | what many bets, by several attackers, make of a unit of capital; limits that hold at all times |
//! | [`attackers`], [`cells`] | what gives rows a score, and where scores are cut into the cells of a rule; learned from past rows |
//! | [`shares`] | which attackers bet, and with how much |
//! | [`bettor`] | the rules that stand, and their bets against one claim |
//! | [`claims`] | what a claim allows a pair of laws, as inequalities that bets refute |
//! | [`watch`] | rows of many secrets as they come: which pairs are judged, which rows meet |
//! | [`limits`] | what limits are of |
//! | [`median`] | limits of a median that hold however often they are looked at |
//!
//! # Why false alarms are rare
//!
//! A rule, a bet on it and the choice of the pair depend on past rows only. Then the factors of the rows to come have a
//! mean of at most 1 under the claim ([`product_bets`]), so that the capital of every attacker is a nonnegative
//! supermartingale. A sum of such capitals with shares that were fixed beforehand is one too. It ever reaches 1/α with
//! probability at most α (Ville's inequality), whenever one stops and however often one looks. Nothing here is valid in
//! the limit of many rows only.

pub mod attackers;
pub mod bettor;
pub mod capital;
pub mod cells;
pub mod claims;
pub mod limits;
pub mod median;
mod newton;
pub mod product_bets;
pub mod shares;
pub mod watch;
