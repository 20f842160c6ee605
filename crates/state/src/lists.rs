//! Lists of numbers by slot, without an allocation a list.

use crate::keys::NO_SLOT;

/// For each slot a list of members, in the order in which they were added.
///
/// Members are small numbers, such as rows of a join side under the slot of their key; each is in
/// one list at most. Adding and removing take constant time.
#[derive(Debug, Clone, Default)]
pub struct SlotLists {
    /// By slot.
    lists: Vec<Ends>,
    /// By member.
    links: Vec<Link>,
}

#[derive(Debug, Clone, Copy)]
struct Ends {
    first: u32,
    last: u32,
}

#[derive(Debug, Clone, Copy)]
struct Link {
    previous: u32,
    next: u32,
}

const EMPTY: Ends = Ends { first: NO_SLOT, last: NO_SLOT };
const UNLINKED: Link = Link { previous: NO_SLOT, next: NO_SLOT };

impl SlotLists {
    /// All lists empty.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts a member, which is in no list, at the end of a slot's list.
    pub fn push(&mut self, slot: u32, member: u32) {
        if slot as usize >= self.lists.len() {
            self.lists.resize(slot as usize + 1, EMPTY);
        }
        if member as usize >= self.links.len() {
            self.links.resize(member as usize + 1, UNLINKED);
        }
        let ends = &mut self.lists[slot as usize];
        let previous = std::mem::replace(&mut ends.last, member);
        match previous {
            NO_SLOT => ends.first = member,
            previous => self.links[previous as usize].next = member,
        }
        self.links[member as usize] = Link { previous, next: NO_SLOT };
    }

    /// Takes a member out of the list of the slot, in which it is.
    pub fn remove(&mut self, slot: u32, member: u32) {
        let Link { previous, next } = std::mem::replace(&mut self.links[member as usize], UNLINKED);
        let ends = &mut self.lists[slot as usize];
        match previous {
            NO_SLOT => ends.first = next,
            previous => self.links[previous as usize].next = next,
        }
        match next {
            NO_SLOT => ends.last = previous,
            next => self.links[next as usize].previous = previous,
        }
    }

    /// The first member of a slot's list.
    pub fn first(&self, slot: u32) -> Option<u32> {
        self.lists.get(slot as usize).map(|ends| ends.first).filter(|first| *first != NO_SLOT)
    }

    /// The members of a slot's list in order.
    pub fn iter(&self, slot: u32) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(self.first(slot), |member| {
            Some(self.links[*member as usize].next).filter(|next| *next != NO_SLOT)
        })
    }

    /// The bytes the lists occupy.
    pub fn memory(&self) -> usize {
        self.lists.capacity() * size_of::<Ends>() + self.links.capacity() * size_of::<Link>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_stay_in_order() {
        let mut lists = SlotLists::new();
        let members = |lists: &SlotLists, slot| lists.iter(slot).collect::<Vec<_>>();
        for member in 0..6 {
            lists.push(member % 2, member);
        }
        assert_eq!((members(&lists, 0), members(&lists, 1)), (vec![0, 2, 4], vec![1, 3, 5]));
        lists.remove(0, 2);
        lists.remove(1, 1);
        lists.remove(1, 5);
        lists.push(0, 5);
        lists.push(1, 2);
        assert_eq!((members(&lists, 0), members(&lists, 1)), (vec![0, 4, 5], vec![3, 2]));
        [0, 4, 5].iter().for_each(|member| lists.remove(0, *member));
        assert_eq!((lists.first(0), lists.first(9)), (None, None));
    }
}
