//! Avro schemas in memory: nodes that refer to each other by number, since named types may be recursive.

use std::sync::Arc;

use serde_json::Value;

/// A schema.
#[derive(Debug)]
pub(crate) struct AvroSchema {
    pub(super) nodes: Vec<Node>,
    pub(super) root: NodeId,
}

/// The number of a node within its schema.
pub(crate) type NodeId = usize;

/// A type of a schema.
#[derive(Debug)]
pub(crate) enum Node {
    Null,
    Boolean,
    Int(Logical),
    Long(Logical),
    Float,
    Double,
    Bytes(Logical),
    String,
    Fixed {
        name: Arc<str>,
        size: usize,
        logical: Logical,
    },
    Enum {
        name: Arc<str>,
        symbols: Vec<Box<str>>,
        /// What stands for symbols that a reader does not know.
        default: Option<Box<str>>,
    },
    Array(NodeId),
    Map(NodeId),
    Union(Vec<NodeId>),
    Record {
        name: Arc<str>,
        fields: Vec<Field>,
    },
}

/// A field of a record.
#[derive(Debug)]
pub(crate) struct Field {
    pub(super) name: Arc<str>,
    pub(super) aliases: Vec<Arc<str>>,
    pub(super) node: NodeId,
    pub(super) default: Option<Value>,
}

/// What a type stands for beyond its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Logical {
    None,
    Date,
    TimeMillis,
    TimeMicros,
    TimestampMillis,
    TimestampMicros,
    TimestampNanos,
    LocalTimestampMillis,
    LocalTimestampMicros,
    LocalTimestampNanos,
    Decimal { precision: u32, scale: u32 },
}

impl Logical {
    /// The logical type of this name, decimals aside.
    pub(super) fn named(name: &str) -> Self {
        match name {
            "date" => Self::Date,
            "time-millis" => Self::TimeMillis,
            "time-micros" => Self::TimeMicros,
            "timestamp-millis" => Self::TimestampMillis,
            "timestamp-micros" => Self::TimestampMicros,
            "timestamp-nanos" => Self::TimestampNanos,
            "local-timestamp-millis" => Self::LocalTimestampMillis,
            "local-timestamp-micros" => Self::LocalTimestampMicros,
            "local-timestamp-nanos" => Self::LocalTimestampNanos,
            _ => Self::None,
        }
    }

    /// How many of the values make up a second, for times and timestamps.
    pub(super) fn per_second(self) -> Option<i64> {
        Some(match self {
            Self::TimeMillis | Self::TimestampMillis | Self::LocalTimestampMillis => 1_000,
            Self::TimeMicros | Self::TimestampMicros | Self::LocalTimestampMicros => 1_000_000,
            Self::TimestampNanos | Self::LocalTimestampNanos => 1_000_000_000,
            Self::None | Self::Date | Self::Decimal { .. } => return None,
        })
    }
}

impl AvroSchema {
    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id]
    }

    pub(crate) fn root(&self) -> NodeId {
        self.root
    }

    /// The node without null, and the branches of null and of the node, of a type that is null or one
    /// other type; the node as it is for any other type.
    pub(super) fn nullable(&self, id: NodeId) -> (NodeId, Option<(usize, usize)>) {
        if let Node::Union(branches) = self.node(id)
            && let [first, second] = branches[..]
        {
            if matches!(self.node(first), Node::Null) {
                return (second, Some((0, 1)));
            }
            if matches!(self.node(second), Node::Null) {
                return (first, Some((1, 0)));
            }
        }
        (id, None)
    }

    /// The name of a type as unions in JSON and messages have it.
    pub(super) fn type_name(&self, id: NodeId) -> &str {
        match self.node(id) {
            Node::Null => "null",
            Node::Boolean => "boolean",
            Node::Int(_) => "int",
            Node::Long(_) => "long",
            Node::Float => "float",
            Node::Double => "double",
            Node::Bytes(_) => "bytes",
            Node::String => "string",
            Node::Array(_) => "array",
            Node::Map(_) => "map",
            Node::Union(_) => "union",
            Node::Fixed { name, .. } | Node::Enum { name, .. } | Node::Record { name, .. } => name,
        }
    }
}
