//! Logs that provoke hints.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::common::Place;

/// A place with all of them.
pub fn place() -> Place {
    let mut rng = ChaCha8Rng::seed_from_u64(40);
    let place = Place::new();
    let place = plain(place, &mut rng);
    let place = doubtful(place, &mut rng);
    let place = dependent(place, &mut rng);
    let place = unreadable(place, &mut rng);
    in_part(place)
}

/// Lists that are longer than what is observed of them.
fn in_part(place: Place) -> Place {
    let mut rng = ChaCha8Rng::seed_from_u64(41);
    let sizes = table("secret,sizes", 600, |_| {
        let length = rng.random_range(70..75usize);
        let sizes: Vec<String> = (0..length)
            .map(|_| rng.random_range(40..1500u32).to_string())
            .collect();
        format!("{},{}", secret(&mut rng), sizes.join(" "))
    });
    place.file("sizes.csv", sizes)
}

fn table(header: &str, rows: usize, mut row: impl FnMut(usize) -> String) -> String {
    let rows: Vec<String> = (0..rows).map(|at| row(at) + "\n").collect();
    format!("{header}\n{}", rows.concat())
}

fn secret(rng: &mut ChaCha8Rng) -> &'static str {
    ["a", "b"][rng.random_range(0..2usize)]
}

/// Roughly normal, from -6 to 6.
fn noise(rng: &mut ChaCha8Rng) -> f64 {
    (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0
}

fn letter(rng: &mut ChaCha8Rng) -> &'static str {
    ["x", "y", "z"][rng.random_range(0..3usize)]
}

/// Logs that are read as they are.
fn plain(place: Place, rng: &mut ChaCha8Rng) -> Place {
    let number = |rng: &mut ChaCha8Rng| format!("{:.5}", noise(rng));
    let numbers = table("secret,time", 600, |_| {
        format!("{},{}", secret(rng), number(rng))
    });
    let labels = table("secret,answer", 2400, |_| {
        format!("{},{}", secret(rng), letter(rng))
    });
    let large = table("secret,time", 6000, |_| {
        format!("{},{}", secret(rng), number(rng))
    });
    let kinds = table("arm,kind,time", 600, |_| {
        format!("{},{},{}", secret(rng), letter(rng), number(rng))
    });
    let wide = table("left,right", 600, |_| {
        format!("{},{}", number(rng), number(rng))
    });
    let secrets = table("arm", 600, |_| secret(rng).to_owned());
    let one = |rng: &mut ChaCha8Rng| table("time", 300, |_| number(rng));
    let (a, b) = (one(rng), one(rng));
    let numbered = table("No.,secret,time", 600, |at| {
        format!("{at},{},{}", secret(rng), number(rng))
    });
    let timing = table("left,right", 300, |_| {
        format!(
            "{:.9},{:.9}",
            noise(rng).abs() / 1e6,
            noise(rng).abs() / 1e6
        )
    });
    let classes = table("class,cycles", 600, |_| {
        format!(
            "{},{}",
            rng.random_range(0..2),
            rng.random_range(1000..9000)
        )
    });
    let members = table("secret,loss", 600, |_| {
        let who = ["member", "nonmember"][rng.random_range(0..2usize)];
        format!("{who},{}", number(rng))
    });
    let several = table("secret,status,latency", 600, |_| {
        let status = [200, 500][rng.random_range(0..2usize)];
        format!("{},{status},{:.4}", secret(rng), 1000.0 + noise(rng))
    });
    let counted = table("secret,answer,n", 6, |at| {
        format!(
            "{},{},{}",
            ["a", "b"][at / 3],
            ["x", "y", "z"][at % 3],
            20 + at
        )
    });
    let scores = table("secret,score", 600, |_| {
        format!("{},{:.4}", secret(rng), rng.random::<f64>())
    });
    place
        .file("numbers.csv", numbers)
        .file("labels.csv", labels)
        .file("large.csv", large)
        .file("kinds.csv", kinds)
        .file("wide.csv", wide)
        .file("secrets.txt", secrets)
        .file("a.csv", &a)
        .file("a.txt", &a)
        .file("b.csv", b)
        .file("numbered.csv", numbered)
        .file("timing.csv", timing)
        .file("classes.csv", classes)
        .file("members.csv", members)
        .file("several.csv", several)
        .file("counted.csv", counted)
        .file("scores.csv", scores)
}

/// Logs that a report doubts.
fn doubtful(place: Place, rng: &mut ChaCha8Rng) -> Place {
    let or = |rng: &mut ChaCha8Rng, word: &str, share: f64| match rng.random::<f64>() < share {
        true => word.to_owned(),
        false => format!("{:.5}", noise(rng)),
    };
    let words = table("secret,time", 600, |_| {
        format!("{},{}", secret(rng), or(rng, "ERROR", 0.05))
    });
    let blank = table("secret,time", 600, |_| {
        format!("{},{}", secret(rng), or(rng, "", 0.05))
    });
    let slow = table("secret,time", 1200, |_| {
        let secret = secret(rng);
        format!(
            "{secret},{}",
            or(rng, "", if secret == "a" { 0.5 } else { 0.0 })
        )
    });
    let pooled = table("metric,secret,value", 2400, |at| {
        let (metric, scale) = [("wait", 1.0), ("send", 100.0), ("total", 1e4)][(at + at / 7) % 3];
        format!(
            "{metric},{},{:.5}",
            secret(rng),
            scale * (1.0 + 0.05 * noise(rng))
        )
    });
    let rows: Vec<String> = (0..600)
        .map(|at| format!("{},{:.5},{at}", secret(rng), noise(rng)))
        .collect();
    let copies = table("secret,time,key", 800, |at| rows[at % 600].clone());
    let spellings = table("secret,value", 600, |_| {
        format!(
            "{},{}",
            secret(rng),
            ["1.0", "1.00", "2", "2.0"][rng.random_range(0..4usize)]
        )
    });
    let lists = table("secret,list", 600, |_| {
        let digit = |rng: &mut ChaCha8Rng| rng.random_range(0..9);
        format!(
            "{},\"[{},{},{}]\"",
            secret(rng),
            digit(rng),
            digit(rng),
            digit(rng)
        )
    });
    place
        .file("words.csv", words)
        .file("blank.csv", blank)
        .file("slow.csv", slow)
        .file("pooled.csv", pooled)
        .file("copies.csv", copies)
        .file("spellings.csv", spellings)
        .file("lists.csv", lists)
}

/// Logs whose rows depend on each other, or on when they were recorded.
fn dependent(place: Place, rng: &mut ChaCha8Rng) -> Place {
    let trials = table("trial,secret,time", 200, |at| {
        let drift = 5.0 * noise(rng);
        let mut both = ["a", "b"];
        both.rotate_left(rng.random_range(0..2));
        let row = |secret: &str, rng: &mut ChaCha8Rng| {
            format!("{at},{secret},{:.5}", 100.0 + drift + noise(rng))
        };
        format!("{}\n{}", row(both[0], rng), row(both[1], rng))
    });
    let (mut level, mut of) = (0.0, "a");
    let mixed = table("secret,user,time", 1200, |at| {
        if at % 7 == 0 {
            of = secret(rng);
        }
        level = 0.95 * level + noise(rng);
        format!("{of},u{},{level:.5}", at / 7)
    });
    let sorted = table("secret,time", 600, |at| {
        format!("{},{:.5}", ["a", "b"][at / 300], noise(rng))
    });
    let cases = table("secret,time", 900, |at| {
        format!("{},{:.5}", ["a", "b", "A"][at % 3], noise(rng))
    });
    let mix = table("user,secret,answer", 4000, |at| {
        let user = at / 20;
        let is_a = rng.random::<f64>() < [0.05, 0.95][user % 2];
        format!("{user},{},{}", if is_a { "a" } else { "b" }, letter(rng))
    });
    place
        .file("trials.csv", trials)
        .file("cases.csv", cases)
        .file("mixed.csv", mixed)
        .file("sorted.csv", sorted)
        .file("mix.csv", mix)
}

/// Logs that are asked about.
fn unreadable(place: Place, rng: &mut ChaCha8Rng) -> Place {
    let with = |rng: &mut ChaCha8Rng, last: &str| {
        let rows = table("secret,time", 300, |_| {
            format!("{},{:.5}", secret(rng), noise(rng))
        });
        rows + last
    };
    let no_secret = with(rng, ",1\n");
    let nan = with(rng, "a,NaN\n");
    let comma = table("secret;time", 300, |_| {
        format!("{};{:.5}", secret(rng), noise(rng)).replace('.', ",")
    });
    let letters = table("kind,word", 600, |_| {
        format!("{},{}", secret(rng), letter(rng))
    });
    let nested = table("", 300, |_| {
        let (one, other) = (noise(rng), noise(rng));
        format!(
            "{{\"secret\":\"{}\",\"tests\":[{{\"time\":{one:.4}}},{{\"time\":{other:.4}}}]}}",
            secret(rng)
        )
    });
    place
        .file("no-secret.csv", no_secret)
        .file("nan.csv", nan)
        .file("comma.csv", comma)
        .file("letters.csv", letters)
        .file("nested.json", nested)
        .file("frequent.csv", "message,count\na,400\nb,300\nc,300\n")
        .file("counts.csv", "0,30,10\n1,12,28\n")
        .file(
            "places.csv",
            "lat,lon,illness\n48.1,9.1,flu\n48.2,9.2,cold\n48.1,9.3,flu\n",
        )
}
