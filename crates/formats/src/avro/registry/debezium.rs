//! The decoder and the encoder of `debezium-avro-confluent`: rows before and after a change.

use std::sync::Arc;

use flott_catalog::connector::{
    BadRecord, BadRecordHandler, ConnectorError, DecodeContext, Decoder, EncodeContext, Encoder,
    RecordBuffer,
};
use flott_types::{ChangelogBatch, DataType, RowField, RowKind, Schema};

use super::super::cursor::{Broken, Cursor};
use super::super::defaults::{write_bytes, write_long};
use super::super::derive::derive_debezium;
use super::super::encode::RowWriter;
use super::super::resolve::RowPlan;
use super::super::schema::{AvroSchema, Node, NodeId};
use super::super::shape::{Kind, Shape};
use super::confluent::Registration;
use super::framing::{Trouble, Writers, split, write_head};
use super::options::Settings;
use crate::builders::Rows;
use crate::error::FormatError;

const FORMAT: &str = "debezium-avro-confluent";

/// The schema of messages: given, or derived from the columns; and its shape.
fn message_schema(
    settings: &Settings,
    table: &Schema,
) -> Result<(String, AvroSchema, Shape), FormatError> {
    let text = match settings.schema() {
        Some(text) => text.to_string(),
        None => derive_debezium(table)?,
    };
    let schema = AvroSchema::parse(&text)?;
    let fields = table.fields.iter();
    let fields = fields.map(|field| RowField::new(field.name.clone(), field.data_type.clone()));
    let row = DataType::row(fields.collect::<Vec<_>>());
    let message = DataType::row(vec![
        RowField::new("before", row.clone()),
        RowField::new("after", row),
        RowField::new("op", DataType::string()),
    ]);
    let shape = Shape::new(&schema, schema.root(), &message, "")?;
    Ok((text, schema, shape))
}

pub(super) fn decoder(context: &DecodeContext) -> Result<Box<dyn Decoder>, ConnectorError> {
    let settings = Settings::of(&context.options, FORMAT);
    let (_, reader, _) = message_schema(&settings, &context.schema)?;
    Ok(Box::new(DebeziumDecoder {
        writers: Writers::new(settings.client()?),
        reader,
        table: context.schema.clone(),
        projection: context.projection.clone(),
        rows: Rows::new(&crate::projected(context)),
        bad_records: context.bad_records.clone(),
    }))
}

struct DebeziumDecoder {
    writers: Writers<MessagePlan>,
    reader: AvroSchema,
    table: Schema,
    projection: Vec<usize>,
    rows: Rows,
    bad_records: Arc<dyn BadRecordHandler>,
}

/// How the messages of one writer are read.
struct MessagePlan {
    writer: Arc<AvroSchema>,
    /// The record of messages, and its branch and the number of branches where it stands in a union.
    record: NodeId,
    branch: Option<(usize, usize)>,
    /// Where `before`, `after` and `op` are among the record's fields.
    parts: [Option<usize>; 3],
    before: RowPlan,
    after: RowPlan,
}

impl MessagePlan {
    fn new(
        writer: Arc<AvroSchema>,
        reader: &AvroSchema,
        table: &Schema,
        projection: &[usize],
    ) -> Result<Self, FormatError> {
        let (record, branches) = writer.nullable(writer.root());
        let Node::Record { fields, .. } = writer.node(record) else {
            return Err(corrupt("the schema is no record with \"before\", \"after\" and \"op\""));
        };
        let position = |name: &str| fields.iter().position(|field| &*field.name == name);
        let parts = [position("before"), position("after"), position("op")];
        let [Some(before), Some(after), Some(_)] = parts else {
            return Err(corrupt("the schema lacks \"before\", \"after\" or \"op\""));
        };
        let (of_reader, _) = reader.nullable(reader.root());
        let Node::Record { fields: known, .. } = reader.node(of_reader) else {
            return Err(corrupt("the schema is no record"));
        };
        let plan = |written: usize, read: usize| {
            RowPlan::new(
                &writer,
                fields[written].node,
                (reader, known[read].node),
                table,
                projection,
            )
        };
        Ok(Self {
            record,
            branch: branches.map(|(_, value)| (value, 2)),
            parts,
            before: plan(before, 0)?,
            after: plan(after, 1)?,
            writer,
        })
    }

    /// Adds the rows of a message; where it fails, some may have been added.
    fn read(&self, bytes: &[u8], rows: &mut Rows) -> Result<(), Broken> {
        let mut cursor = Cursor::new(bytes);
        if let Some((value, of)) = self.branch
            && cursor.branch(of)? != value
        {
            return Err(Box::new(corrupt("the message is null")));
        }
        let Node::Record { fields, .. } = self.writer.node(self.record) else { return Ok(()) };
        let mut starts = [cursor; 3];
        for (at, field) in fields.iter().enumerate() {
            for (part, start) in self.parts.iter().zip(&mut starts) {
                if *part == Some(at) {
                    *start = cursor;
                }
            }
            cursor.skip(&self.writer, field.node)?;
        }
        cursor.end()?;
        let [mut before, mut after, mut op] = starts;
        let no_before = |op| Box::new(FormatError::NoBefore { op, database: "Debezium" });
        let no_after = || Box::new(corrupt("the \"after\" field is null"));
        match self.op(fields, &mut op)? {
            b"c" | b"r" => {
                if !self.after.read(&mut after, &mut rows.columns)? {
                    return Err(no_after());
                }
                rows.end_row_as(RowKind::Insert);
            }
            b"u" => {
                if !self.before.read(&mut before, &mut rows.columns)? {
                    return Err(no_before("UPDATE"));
                }
                rows.end_row_as(RowKind::UpdateBefore);
                if !self.after.read(&mut after, &mut rows.columns)? {
                    return Err(no_after());
                }
                rows.end_row_as(RowKind::UpdateAfter);
            }
            b"d" => {
                if !self.before.read(&mut before, &mut rows.columns)? {
                    return Err(no_before("DELETE"));
                }
                rows.end_row_as(RowKind::Delete);
            }
            other => {
                let op = String::from_utf8_lossy(other);
                return Err(Box::new(corrupt(&format!("unknown \"op\" value \"{op}\""))));
            }
        }
        Ok(())
    }

    /// The text of `op`, a string or a nullable one.
    fn op<'a>(
        &'a self,
        fields: &[super::super::schema::Field],
        cursor: &mut Cursor<'a>,
    ) -> Result<&'a [u8], Broken> {
        let missing = || Box::new(corrupt("\"op\" is missing"));
        let mut node = fields[self.parts[2].ok_or_else(missing)?].node;
        if let Node::Union(branches) = self.writer.node(node) {
            node = branches[cursor.branch(branches.len())?];
        }
        match self.writer.node(node) {
            Node::String => cursor.sized(),
            Node::Enum { symbols, .. } => {
                let at = cursor.int()?;
                let symbol = usize::try_from(at).ok().and_then(|at| symbols.get(at));
                symbol.map(|symbol| symbol.as_bytes()).ok_or_else(missing)
            }
            _ => Err(missing()),
        }
    }
}

fn corrupt(what: &str) -> FormatError {
    FormatError::Message { format: "Debezium Avro", what: what.into() }
}

impl Decoder for DebeziumDecoder {
    fn decode_stream(
        &mut self,
        _: &[u8],
        _: bool,
        _: usize,
        place: &dyn Fn(usize) -> String,
    ) -> Result<usize, ConnectorError> {
        Err(ConnectorError::from(FormatError::NoStream(FORMAT)).at(place(0)))
    }

    fn decode_message(
        &mut self,
        message: &[u8],
        place: &dyn Fn() -> String,
    ) -> Result<(), ConnectorError> {
        // A tombstone.
        if message.is_empty() {
            return Ok(());
        }
        let before = self.rows.len();
        let result = split(message).map_err(Trouble::from).and_then(|(id, record)| {
            let plan = self.writers.plan(id, |writer| {
                MessagePlan::new(writer, &self.reader, &self.table, &self.projection)
            })?;
            Ok(plan.read(record, &mut self.rows)?)
        });
        match result {
            Ok(()) => Ok(()),
            Err(Trouble::Record(error)) => {
                self.rows.truncate(before);
                let error = ConnectorError::from(*error);
                self.bad_records.handle(BadRecord { raw: message, place: place(), error })
            }
            Err(Trouble::Job(error)) => Err(error.at(place())),
        }
    }

    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn take(&mut self) -> Result<Option<ChangelogBatch>, ConnectorError> {
        self.rows.take()
    }
}

pub(super) fn encoder(context: &EncodeContext) -> Result<Box<dyn Encoder>, ConnectorError> {
    let settings = Settings::of(&context.options, FORMAT);
    let (text, _, shape) = message_schema(&settings, &context.schema)?;
    let Kind::Record(parts) = shape.kind else {
        return Err(corrupt("the schema is no record").into());
    };
    let message = shape.branches.map(|branches| branches.value);
    let mut parts = parts.into_iter().map(|(_, part)| part);
    let (Some(before), Some(after), Some(op)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(corrupt("the schema lacks \"before\", \"after\" or \"op\"").into());
    };
    Ok(Box::new(DebeziumEncoder {
        message,
        before: RowWriter::of_shape(before, &context.schema),
        after: RowWriter::of_shape(after, &context.schema),
        op,
        registration: Registration {
            client: settings.client()?,
            subject: settings.subject()?,
            schema: text,
            id: None,
        },
    }))
}

struct DebeziumEncoder {
    /// The branch of messages, where they stand in a union.
    message: Option<u8>,
    before: RowWriter,
    after: RowWriter,
    op: Shape,
    registration: Registration,
}

impl Encoder for DebeziumEncoder {
    fn encode(
        &mut self,
        batch: &ChangelogBatch,
        out: &mut RecordBuffer,
    ) -> Result<(), ConnectorError> {
        if out.is_delimited() {
            return Err(FormatError::NoStream(FORMAT).into());
        }
        if batch.is_empty() {
            return Ok(());
        }
        let id = self.registration.id()?;
        let columns = self.after.columns(batch)?;
        for row in 0..batch.len() {
            let bytes = &mut out.bytes;
            write_head(bytes, id);
            if let Some(branch) = self.message {
                write_long(bytes, branch.into());
            }
            let adds = batch.kind(row).adds();
            if adds {
                self.before.write_null(bytes);
                self.after.write(bytes, &columns, row)?;
            } else {
                self.before.write(bytes, &columns, row)?;
                self.after.write_null(bytes);
            }
            if let Some(branches) = self.op.branches {
                write_long(bytes, branches.value.into());
            }
            write_bytes(bytes, if adds { b"c" } else { b"d" });
            out.end_record();
        }
        Ok(())
    }
}
