//! What is measured: for each primitive a fixed input and random ones, made in the same way.

use std::cell::RefCell;
use std::hash::Hash;
use std::sync::OnceLock;

use aes::cipher::{BlockEncrypt, KeyInit};
use chacha20poly1305::aead::AeadInPlace;
use ed25519_dalek::Signer;
use p256::ecdsa::signature::hazmat::PrehashSigner;
use rand::rngs::StdRng;
use rand::{RngCore, SeedableRng};
use sha2::Digest;
use subtle::ConstantTimeEq;

/// A function whose time may depend on its class of inputs.
pub trait Primitive {
    /// As in the table.
    const NAME: &'static str;
    /// Whether its time is known to depend on the class.
    const LEAKS: bool;
    /// What it gets.
    type Input: Clone + Hash;

    /// An input that is fixed, or one that is random.
    fn input(is_random: bool) -> Self::Input;

    /// What is timed.
    fn call(input: &Self::Input) -> u8;
}

thread_local! {
    static RANDOM: RefCell<StdRng> = RefCell::new(StdRng::seed_from_u64(1));
}

/// Random bytes are drawn for fixed inputs too, and then dropped.
fn bytes<const N: usize>(is_random: bool) -> [u8; N] {
    let mut random = [0; N];
    RANDOM.with_borrow_mut(|source| source.fill_bytes(&mut random));
    let fixed = std::hint::black_box([0x5a; N]);
    if is_random { random } else { fixed }
}

macro_rules! primitive {
    ($type:ident, $name:literal, $leaks:literal, $input:ty, $make:expr, $call:expr) => {
        #[doc = $name]
        pub struct $type;
        impl Primitive for $type {
            const NAME: &'static str = $name;
            const LEAKS: bool = $leaks;
            type Input = $input;
            fn input(is_random: bool) -> $input {
                let make: fn(bool) -> $input = $make;
                make(is_random)
            }
            fn call(input: &$input) -> u8 {
                let call: fn(&$input) -> u8 = $call;
                call(input)
            }
        }
    };
}

/// A key that is made once.
macro_rules! once {
    ($type:ty, $make:expr) => {{
        static KEY: OnceLock<$type> = OnceLock::new();
        KEY.get_or_init(|| $make)
    }};
}

primitive!(
    Aes,
    "aes: AES-128, a block",
    false,
    [u8; 16],
    bytes::<16>,
    |block| {
        let key = once!(aes::Aes128, aes::Aes128::new(&[7; 16].into()));
        let mut block = (*block).into();
        key.encrypt_block(&mut block);
        block[0]
    }
);
primitive!(
    ChaCha,
    "chacha20poly1305: 64 bytes",
    false,
    [u8; 64],
    bytes::<64>,
    |text| {
        let key = once!(
            chacha20poly1305::ChaCha20Poly1305,
            chacha20poly1305::ChaCha20Poly1305::new(&[7; 32].into())
        );
        let mut text = *text;
        let tag = key
            .encrypt_in_place_detached(&[1; 12].into(), b"", &mut text)
            .expect("short");
        tag[0] ^ text[0]
    }
);
primitive!(
    Sha,
    "sha2: SHA-256 of 64 bytes",
    false,
    [u8; 64],
    bytes::<64>,
    |text| sha2::Sha256::digest(text)[0]
);
primitive!(
    X25519,
    "x25519-dalek: secret key",
    false,
    [u8; 32],
    bytes::<32>,
    |scalar| { x25519_dalek::x25519(*scalar, x25519_dalek::X25519_BASEPOINT_BYTES)[0] }
);
primitive!(
    Ed25519,
    "ed25519-dalek: signed message",
    false,
    [u8; 32],
    bytes::<32>,
    |message| {
        let key = once!(
            ed25519_dalek::SigningKey,
            ed25519_dalek::SigningKey::from_bytes(&[7; 32])
        );
        key.sign(message).to_bytes()[0]
    }
);
primitive!(
    P256,
    "p256: ECDSA of a digest",
    false,
    [u8; 32],
    bytes::<32>,
    |digest| {
        let key = once!(
            p256::ecdsa::SigningKey,
            p256::ecdsa::SigningKey::from_slice(&[7; 32]).expect("a key")
        );
        let signature: p256::ecdsa::Signature = key.sign_prehash(digest).expect("a digest");
        signature.to_bytes()[0]
    }
);
primitive!(
    Subtle,
    "subtle: comparison of 64 bytes",
    false,
    Vec<u8>,
    |is_random| bytes::<64>(is_random).to_vec(),
    |guess| {
        let secret = once!(Vec<u8>, vec![0x5a; 64]);
        secret.ct_eq(guess).unwrap_u8()
    }
);
primitive!(
    Naive,
    "naive comparison of 64 bytes",
    true,
    Vec<u8>,
    |is_random| bytes::<64>(is_random).to_vec(),
    |guess| {
        let secret = once!(Vec<u8>, vec![0x5a; 64]);
        u8::from(secret.iter().zip(guess).all(|(a, b)| a == b))
    }
);
primitive!(
    Table,
    "table of 1 MB, 16 look-ups",
    true,
    [u8; 64],
    bytes::<64>,
    |text| {
        let table = once!(Vec<u8>, (0..1 << 20).map(|at: u32| at as u8).collect());
        let places = text
            .chunks_exact(4)
            .map(|place| u32::from_le_bytes([place[0], place[1], place[2], place[3]]));
        places.fold(0, |sum, place| sum ^ table[(place >> 12) as usize])
    }
);

fn rsa_key() -> &'static rsa::RsaPrivateKey {
    once!(
        rsa::RsaPrivateKey,
        rsa::RsaPrivateKey::new(&mut StdRng::seed_from_u64(2), 1024).expect("a key")
    )
}

/// A valid message of 48 zeros, and one whose padding is random: Bleichenbacher's attack needs to tell them apart
/// (MARVIN).
fn ciphertext(is_random: bool) -> Vec<u8> {
    RANDOM.with_borrow_mut(|random| {
        let public = rsa_key().to_public_key();
        let valid = public
            .encrypt(random, rsa::Pkcs1v15Encrypt, &[0; 48])
            .expect("short");
        let mut other = vec![0; 128];
        random.fill_bytes(&mut other);
        // Below the modulus.
        other[0] = 0;
        if is_random { other } else { valid }
    })
}

primitive!(
    Marvin,
    "rsa 0.9: PKCS#1 v1.5 decryption (MARVIN)",
    true,
    Vec<u8>,
    ciphertext,
    |text| {
        rsa_key()
            .decrypt(rsa::Pkcs1v15Encrypt, text)
            .map_or(0, |text| text[0])
    }
);
