//! The client's side of SCRAM (RFC 5802), with SHA-256 and SHA-512.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256, Sha512};

use crate::config::{Mechanism, Sasl};
use crate::{KafkaError, Result};

/// More rounds than these are not believed.
const MOST_ROUNDS: u32 = 1_000_000;

pub(super) struct Scram<'a> {
    sasl: &'a Sasl,
    nonce: String,
    /// What the server must prove to know.
    server_signature: Vec<u8>,
}

impl<'a> Scram<'a> {
    pub(super) fn new(sasl: &'a Sasl) -> Result<Self> {
        let mut random = [0; 24];
        getrandom::fill(&mut random)
            .map_err(|error| KafkaError::Protocol(format!("no random numbers: {error}")))?;
        Ok(Self { sasl, nonce: BASE64.encode(random), server_signature: Vec::new() })
    }

    pub(super) fn first(&self) -> String {
        format!("n,,{}", self.first_bare())
    }

    fn first_bare(&self) -> String {
        let user = self.sasl.user.replace('=', "=3D").replace(',', "=2C");
        format!("n={user},r={}", self.nonce)
    }

    /// The answer to the server's first message: the proof of knowing the password.
    pub(super) fn last(&mut self, server: &[u8]) -> Result<String, &'static str> {
        const MALFORMED: &str = "its SCRAM message is malformed";
        let server = std::str::from_utf8(server).map_err(|_| MALFORMED)?;
        let nonce = attribute(server, 'r').filter(|nonce| nonce.starts_with(&self.nonce));
        let nonce = nonce.ok_or(MALFORMED)?;
        let salt = attribute(server, 's').and_then(|salt| BASE64.decode(salt).ok());
        let rounds = attribute(server, 'i').and_then(|rounds| rounds.parse::<u32>().ok());
        let rounds = rounds.filter(|rounds| (1..=MOST_ROUNDS).contains(rounds));
        let (salt, rounds) = salt.zip(rounds).ok_or(MALFORMED)?;
        let without_proof = format!("c=biws,r={nonce}");
        let said = format!("{},{server},{without_proof}", self.first_bare());
        let salted = self.salted(&salt, rounds);
        let client_key = self.hmac(&salted, b"Client Key");
        let signature = self.hmac(&self.hash(&client_key), said.as_bytes());
        let proof: Vec<u8> = client_key.iter().zip(&signature).map(|(a, b)| a ^ b).collect();
        let server_key = self.hmac(&salted, b"Server Key");
        self.server_signature = self.hmac(&server_key, said.as_bytes());
        Ok(format!("{without_proof},p={}", BASE64.encode(proof)))
    }

    pub(super) fn verify(&self, server: &[u8]) -> Result<(), &'static str> {
        let server = std::str::from_utf8(server).unwrap_or_default();
        let signature = attribute(server, 'v').and_then(|text| BASE64.decode(text).ok());
        if signature.as_ref() == Some(&self.server_signature) {
            Ok(())
        } else {
            Err("it does not prove that it knows the password")
        }
    }

    fn salted(&self, salt: &[u8], rounds: u32) -> Vec<u8> {
        let password = self.sasl.password.as_bytes();
        let mut block = self.hmac(password, &[salt, &[0, 0, 0, 1]].concat());
        let mut salted = block.clone();
        for _ in 1..rounds {
            block = self.hmac(password, &block);
            salted.iter_mut().zip(&block).for_each(|(all, byte)| *all ^= byte);
        }
        salted
    }

    fn is_512(&self) -> bool {
        self.sasl.mechanism == Mechanism::ScramSha512
    }

    fn hash(&self, bytes: &[u8]) -> Vec<u8> {
        if self.is_512() { Sha512::digest(bytes).to_vec() } else { Sha256::digest(bytes).to_vec() }
    }

    fn hmac(&self, key: &[u8], bytes: &[u8]) -> Vec<u8> {
        fn of<M: Mac + KeyInit>(key: &[u8], bytes: &[u8]) -> Vec<u8> {
            // Any length is a key; there is nothing to go wrong.
            M::new_from_slice(key)
                .map(|mac| mac.chain_update(bytes).finalize().into_bytes().to_vec())
                .unwrap_or_default()
        }
        if self.is_512() { of::<Hmac<Sha512>>(key, bytes) } else { of::<Hmac<Sha256>>(key, bytes) }
    }
}

fn attribute(message: &str, name: char) -> Option<&str> {
    message.split(',').find_map(|part| part.strip_prefix(name)?.strip_prefix('='))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 7677.
    #[test]
    fn the_example_of_the_standard() {
        let sasl = Sasl {
            mechanism: Mechanism::ScramSha256,
            user: "user".into(),
            password: "pencil".into(),
        };
        let nonce = "rOprNGfwEbeRWgbNEkqO".to_string();
        let mut scram = Scram { sasl: &sasl, nonce, server_signature: Vec::new() };
        let server = "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
                      s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
        let last = scram.last(server.as_bytes()).unwrap();
        assert!(last.ends_with("p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="), "{last}");
        scram.verify(b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJlsjpl95G4=").unwrap_err();
        scram.verify(b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=").unwrap();
    }
}
