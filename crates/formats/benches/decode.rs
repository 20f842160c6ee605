//! Decoding and encoding of Nexmark-like bids: CSV lines of about 195 bytes, JSON of about 265.

#![allow(clippy::unwrap_used)]

use std::fmt::Write;
use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use flott_catalog::connector::{
    DecodeContext, Decoder, EncodeContext, FailOnBadRecord, FormatDef, Options, RecordBuffer,
};
use flott_types::{ChangelogBatch, DataType, Field, Schema};
use jiff::tz::TimeZone;

const ROWS: usize = 100_000;
const CHUNK: usize = 1 << 20;

fn schema() -> Schema {
    let column = |name: &str, ty| Field::new(name, ty);
    Schema::new(vec![
        column("auction", DataType::bigint()),
        column("bidder", DataType::bigint()),
        column("price", DataType::bigint()),
        column("channel", DataType::string()),
        column("url", DataType::string()),
        column("dateTime", DataType::timestamp(3)),
        column("extra", DataType::string()),
    ])
}

/// A small counter-based generator (splitmix64), so that every run sees the same bids.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % n
    }

    fn text(&mut self, len: usize) -> String {
        (0..len).map(|_| (b'a' + self.below(26) as u8) as char).collect()
    }
}

fn bids(json: bool) -> Vec<u8> {
    let mut random = Random(7);
    let mut out = String::new();
    for row in 0..ROWS {
        let (auction, bidder) = (1000 + random.below(100_000), 1000 + random.below(40_000));
        let price = 100 * 10u64.pow(random.below(6) as u32) + random.below(100);
        let (channel, url) = if random.below(2) > 0 {
            let k = random.below(4) as usize;
            let name = ["Google", "Facebook", "Baidu", "Apple"][k];
            let path = ["a", "b", "c", "d"][k];
            let url = format!("https://www.nexmark.com/{path}/item.htm?query=1&channel_id={k}");
            (name.to_string(), url)
        } else {
            let k = random.below(10_000);
            let (a, b) = (random.text(5), random.text(5));
            let url = format!("https://www.nexmark.com/{a}/{b}/item.htm?query=1&channel_id={k}");
            (format!("channel-{k}"), url)
        };
        let millis = row / 10;
        let time = format!(
            "2024-01-01 00:{:02}:{:02}.{:03}",
            millis / 60_000,
            millis / 1000 % 60,
            millis % 1000
        );
        let len = 54 + random.below(26) as usize;
        let extra = random.text(len);
        let _ = if json {
            writeln!(
                out,
                r#"{{"auction":{auction},"bidder":{bidder},"price":{price},"channel":"{channel}","url":"{url}","dateTime":"{time}","extra":"{extra}"}}"#
            )
        } else {
            writeln!(out, "{auction},{bidder},{price},{channel},{url},{time},{extra}")
        };
    }
    out.into_bytes()
}

fn format(name: &str) -> &'static FormatDef {
    flott_formats::all().into_iter().find(|format| format.name == name).expect("a format")
}

fn decoder(name: &str, projection: Vec<usize>) -> Box<dyn Decoder> {
    let context = DecodeContext {
        schema: schema(),
        projection,
        key: Vec::new(),
        metadata: Vec::new(),
        options: Options::default(),
        zone: TimeZone::UTC,
        bad_records: Arc::new(FailOnBadRecord),
    };
    format(name).decoder.expect("a decoder")(&context).expect("valid options")
}

/// Decodes all bytes in chunks as a file reader hands them over.
fn decode_all(decoder: &mut dyn Decoder, bytes: &[u8]) -> Vec<ChangelogBatch> {
    let mut batches = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let end = (at + CHUNK).min(bytes.len());
        let last = end == bytes.len();
        at += decoder
            .decode_stream(&bytes[at..end], last, ChangelogBatch::MAX_ROWS, &|_| String::new())
            .expect("sound records");
        batches.extend(decoder.take().expect("a batch"));
    }
    batches
}

fn decode(c: &mut Criterion) {
    for name in ["csv", "json"] {
        let bytes = bids(name == "json");
        println!("{name}: {:.1} bytes a row", bytes.len() as f64 / ROWS as f64);
        let mut group = c.benchmark_group(format!("decode {name}"));
        group.throughput(Throughput::Bytes(bytes.len() as u64)).sample_size(20);
        for (title, projection) in [("all", (0..7).collect::<Vec<_>>()), ("3 of 7", vec![0, 2, 5])]
        {
            let mut decoder = decoder(name, projection);
            group.bench_function(title, |b| {
                b.iter(|| black_box(decode_all(&mut *decoder, &bytes)).len());
            });
        }
        group.finish();
    }
}

/// Records that are messages of their own, Avro's for the same bids.
fn decode_messages(c: &mut Criterion) {
    let batches = decode_all(&mut *decoder("csv", (0..7).collect()), &bids(false));
    let context = EncodeContext {
        schema: schema(),
        key: Vec::new(),
        options: Options::default(),
        zone: TimeZone::UTC,
    };
    let mut encoder = format("avro").encoder.expect("an encoder")(&context).expect("options");
    let mut out = RecordBuffer::default();
    for batch in &batches {
        encoder.encode(batch, &mut out).expect("rows to encode");
    }
    println!("avro: {:.1} bytes a row", out.bytes.len() as f64 / ROWS as f64);
    let mut group = c.benchmark_group("decode avro");
    group.throughput(Throughput::Bytes(out.bytes.len() as u64)).sample_size(20);
    for (title, projection) in [("all", (0..7).collect::<Vec<_>>()), ("3 of 7", vec![0, 2, 5])] {
        let mut decoder = decoder("avro", projection);
        group.bench_function(title, |b| {
            b.iter(|| {
                let mut rows = 0;
                for record in out.records() {
                    decoder.decode_message(record, &String::new).expect("sound records");
                    if decoder.rows() == ChangelogBatch::MAX_ROWS {
                        rows += black_box(decoder.take()).expect("a batch").map_or(0, |b| b.len());
                    }
                }
                rows + black_box(decoder.take()).expect("a batch").map_or(0, |b| b.len())
            });
        });
    }
    group.finish();
    let mut group = c.benchmark_group("encode avro");
    group.throughput(Throughput::Bytes(out.bytes.len() as u64)).sample_size(20);
    group.bench_function("all", |b| {
        b.iter(|| {
            for batch in &batches {
                out.clear();
                encoder.encode(batch, &mut out).expect("rows to encode");
                black_box(out.bytes.len());
            }
        });
    });
    group.finish();
}

fn encode(c: &mut Criterion) {
    for name in ["csv", "json"] {
        let bytes = bids(name == "json");
        let batches = decode_all(&mut *decoder(name, (0..7).collect()), &bytes);
        let context = EncodeContext {
            schema: schema(),
            key: Vec::new(),
            options: Options::default(),
            zone: TimeZone::UTC,
        };
        let mut encoder = format(name).encoder.expect("an encoder")(&context).expect("options");
        let mut out = RecordBuffer::new(b"\n");
        let mut group = c.benchmark_group(format!("encode {name}"));
        group.throughput(Throughput::Bytes(bytes.len() as u64)).sample_size(20);
        group.bench_function("all", |b| {
            b.iter(|| {
                for batch in &batches {
                    out.clear();
                    encoder.encode(batch, &mut out).expect("rows to encode");
                    black_box(out.bytes.len());
                }
            });
        });
        group.finish();
    }
}

criterion_group!(benches, decode, decode_messages, encode);
criterion_main!(benches);
