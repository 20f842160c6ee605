//! Logging in.

use super::{In, Out, Request};
use crate::{ErrorCode, Result};

/// Names the SASL mechanism.
pub(crate) struct SaslHandshake<'a>(pub(crate) &'a str);

impl Request for SaslHandshake<'_> {
    const KEY: i16 = 17;
    const VERSION: i16 = 1;
    const NAME: &'static str = "SaslHandshake";
    /// The error and the mechanisms that the broker knows.
    type Response = (ErrorCode, Vec<String>);

    fn write(&self, out: &mut Out) {
        out.text(self.0);
    }

    fn read(response: &mut In<'_>) -> Result<Self::Response> {
        Ok((ErrorCode(response.i16()?), response.array(In::text)?))
    }
}

/// Sends what the mechanism has to say.
pub(crate) struct SaslAuthenticate<'a>(pub(crate) &'a [u8]);

impl Request for SaslAuthenticate<'_> {
    const KEY: i16 = 36;
    const VERSION: i16 = 0;
    const NAME: &'static str = "SaslAuthenticate";
    /// The error, its text, and what the broker's side of the mechanism says.
    type Response = (ErrorCode, Option<String>, Vec<u8>);

    fn write(&self, out: &mut Out) {
        out.bytes(self.0);
    }

    fn read(response: &mut In<'_>) -> Result<Self::Response> {
        Ok((ErrorCode(response.i16()?), response.optional_text()?, response.bytes()?.to_vec()))
    }
}
