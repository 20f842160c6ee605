//! What the encoders of all change-log formats share. Flink writes additions and deletions only: an
//! update is the one after the other.

use flott_catalog::connector::{ConnectorError, EncodeContext, Encoder, RecordBuffer};
use flott_types::ChangelogBatch;

use crate::json::RowEncoder;

/// What stands around the object of a row, for additions and for deletions.
pub(super) struct Template {
    add: Around,
    delete: Around,
}

struct Around {
    head: String,
    /// The head where NULL fields are left out.
    short_head: String,
    tail: String,
    short_tail: String,
}

impl Template {
    /// `before` and `after`, one of which is null, and the operation.
    pub(super) fn before_after(field: &str, add: &str, delete: &str) -> Self {
        Self {
            add: Around {
                head: "{\"before\":null,\"after\":".into(),
                short_head: "{\"after\":".into(),
                tail: format!(",\"{field}\":\"{add}\"}}"),
                short_tail: format!(",\"{field}\":\"{add}\"}}"),
            },
            delete: Around {
                head: "{\"before\":".into(),
                short_head: "{\"before\":".into(),
                tail: format!(",\"after\":null,\"{field}\":\"{delete}\"}}"),
                short_tail: format!(",\"{field}\":\"{delete}\"}}"),
            },
        }
    }

    /// The row between `head` and `tail`, and the type of change.
    pub(super) fn data(head: &str, tail: &str, add: &str, delete: &str) -> Self {
        let around = |kind: &str| {
            let tail = format!("{tail},\"type\":\"{kind}\"}}");
            Around { head: head.into(), short_head: head.into(), short_tail: tail.clone(), tail }
        };
        Self { add: around(add), delete: around(delete) }
    }
}

/// Makes the encoder of a change-log format.
pub(super) fn encoder(
    context: &EncodeContext,
    format: &'static str,
    template: Template,
) -> Result<Box<dyn Encoder>, ConnectorError> {
    Ok(Box::new(ChangelogEncoder { rows: RowEncoder::new(context, format)?, template }))
}

struct ChangelogEncoder {
    rows: RowEncoder,
    template: Template,
}

impl Encoder for ChangelogEncoder {
    fn encode(
        &mut self,
        batch: &ChangelogBatch,
        out: &mut RecordBuffer,
    ) -> Result<(), ConnectorError> {
        let columns = self.rows.columns(batch)?;
        let short = self.rows.style.skip_nulls;
        for row in 0..batch.len() {
            let adds = batch.kind(row).adds();
            let around = if adds { &self.template.add } else { &self.template.delete };
            let (head, tail) = match short {
                true => (&around.short_head, &around.short_tail),
                false => (&around.head, &around.tail),
            };
            out.bytes.extend_from_slice(head.as_bytes());
            self.rows.write(&mut out.bytes, &columns, row)?;
            out.bytes.extend_from_slice(tail.as_bytes());
            out.end_record();
        }
        Ok(())
    }
}
