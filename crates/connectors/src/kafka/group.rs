//! Committing offsets to the consumer group, so that other programs see how far the table is read.

use std::collections::BTreeMap;
use std::sync::mpsc::{Sender, channel};

use flott_kafka::{Client, ClientConfig, TopicPartition};
use std::sync::Arc;

/// Commits the latest offsets on a thread of its own. Nothing depends on them: what goes wrong is logged.
pub(super) struct GroupOffsets {
    sender: Sender<Vec<(TopicPartition, i64)>>,
}

impl GroupOffsets {
    /// `None` when there is no group, or no thread to be had.
    pub(super) fn new(config: &Arc<ClientConfig>) -> Option<Self> {
        let group = config.group.clone()?;
        let config = config.clone();
        let (sender, offsets) = channel::<Vec<(TopicPartition, i64)>>();
        let thread = std::thread::Builder::new().name("kafka group".into());
        let committing = move || {
            let mut client = Client::new(config);
            while let Ok(first) = offsets.recv() {
                let later = offsets.try_iter().flatten();
                let latest: BTreeMap<_, _> = first.into_iter().chain(later).collect();
                let latest: Vec<_> = latest.into_iter().collect();
                if let Err(error) = client.commit(&group, &latest) {
                    tracing::warn!(group, %error, "offsets were not committed to the Kafka group");
                }
            }
        };
        thread.spawn(committing).ok().map(|_| Self { sender })
    }

    pub(super) fn commit(&self, offsets: Vec<(TopicPartition, i64)>) {
        // The thread lives as long as the sender.
        let _ = self.sender.send(offsets);
    }
}
