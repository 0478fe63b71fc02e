//! Real functions on this machine.
use leakgauge_timing::{Attacker, Test};
use subtle::ConstantTimeEq;

fn naive(a: &[u8], b: &[u8]) -> bool {
    for (a, b) in a.iter().zip(b) {
        if a != b {
            return false;
        }
    }
    true
}
fn guess(length: usize, at: usize) -> Vec<u8> {
    let mut g = vec![7; length];
    g[at] = 0;
    g
}

#[test]
fn naive_fails() {
    for length in [32, 256, 1024] {
        let secret = vec![7; length];
        let r = Test::new("naive", Attacker::SharedHardware)
            .class("early", || guess(length, 0))
            .class("late", || guess(length, length - 1))
            .run(|g| naive(&secret, g));
        println!("{r}\n{:?}", r.elapsed);
    }
}
#[test]
fn subtle_passes() {
    for length in [32, 256, 1024] {
        let secret = vec![7; length];
        let r = Test::new("subtle", Attacker::SharedHardware)
            .class("early", || guess(length, 0))
            .class("late", || guess(length, length - 1))
            .run(|g| bool::from(secret.ct_eq(g)));
        println!("{r}\n{:?}", r.elapsed);
    }
}
