use rand::SeedableRng;
use std::time::Instant;
fn main() {
    let a: Vec<String> = std::env::args().skip(1).collect();
    let t = Instant::now();
    let o = leakgauge::log::ReadOptions {
        files: vec![a[0].clone()],
        secret: Some("1".into()),
        ..Default::default()
    };
    let l = leakgauge::log::read(&o, &Default::default()).unwrap();
    eprintln!("read {:?}", t.elapsed());
    let t = Instant::now();
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(0);
    let s = leakgauge::split::Split::stratified(&l.counts, &mut rng);
    eprintln!("split {:?}", t.elapsed());
    let t = Instant::now();
    let tu =
        leakgauge::tuning::tune(&l.observations, &s, Default::default(), 0.05, &[0.0]).unwrap();
    eprintln!("tune {:?}", t.elapsed());
    let rules: Vec<_> = tu.choices.iter().map(|c| c.rule).collect();
    let t = Instant::now();
    let j = leakgauge::pairwise::judge(
        &*tu.scorer,
        &l.observations,
        &s.certify,
        &rules,
        &[vec![0.1; l.secrets.len()]],
    );
    eprintln!("judge {:?} {}", t.elapsed(), j.tallies.len());
    let t = Instant::now();
    let r = leakgauge::audit::audit(&l, &Default::default()).unwrap();
    eprintln!("audit {:?} {}", t.elapsed(), r.pairs.len());
    let t = Instant::now();
    let n: usize = rules.len();
    let mut x = 0.0;
    for i in 0..n {
        x += leakgauge::stats::binomial::clopper_pearson_upper(i as u64, 4000 + i as u64, 1e-5);
    }
    eprintln!("cp {:?} {x}", t.elapsed());
    let p = leakgauge::measure::plug_in::total_variation(&l.counts);
    eprintln!("plugin {}", p.len());
}
