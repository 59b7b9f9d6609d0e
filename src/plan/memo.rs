//! Values that are made once, each by its key.

use std::sync::OnceLock;

/// A list of made values, for few keys. Looking one up takes no lock, since calls do it.
#[derive(Debug)]
pub struct Memo<K, V> {
    entry: OnceLock<Box<MemoEntry<K, V>>>,
}

#[derive(Debug)]
struct MemoEntry<K, V> {
    key: K,
    value: V,
    next: Memo<K, V>,
}

impl<K, V> Default for Memo<K, V> {
    fn default() -> Memo<K, V> {
        Memo { entry: OnceLock::new() }
    }
}

impl<K: PartialEq + Clone, V> Memo<K, V> {
    /// Returns the value of this key, made when there is none yet.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn get<E>(&self, key: &K, make: impl Fn() -> Result<V, E>) -> Result<&V, E> {
        let mut memo = self;
        loop {
            match memo.entry.get() {
                Some(entry) if entry.key == *key => return Ok(&entry.value),
                Some(entry) => memo = &entry.next,
                // Another thread may set it first, perhaps to another key: looked at again.
                None => drop(memo.entry.set(Box::new(MemoEntry {
                    key: key.clone(),
                    value: make()?,
                    next: Memo::default(),
                }))),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_made_once_by_key() {
        let memo = Memo::default();
        let make = |value: i32| move || if value < 0 { Err("negative") } else { Ok(value) };
        assert_eq!(memo.get(&"a", make(1)), Ok(&1));
        assert_eq!(memo.get(&"b", make(-1)), Err("negative"));
        assert_eq!(memo.get(&"b", make(2)), Ok(&2));
        assert_eq!((memo.get(&"a", make(3)), memo.get(&"b", make(4))), (Ok(&1), Ok(&2)));
    }
}
