//! Shared data, as all workers of a process see it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use portcullis_policy::HostError;
use portcullis_policy::host::Write;

/// A store that clones share. Versions count up from 1 across all keys, as in proxy-wasm's C++ host.
#[derive(Debug, Clone, Default)]
pub struct SharedData(Rc<RefCell<Store>>);

#[derive(Debug, Default)]
struct Store {
    values: HashMap<String, (Vec<u8>, u32)>,
    last_version: u32,
}

impl SharedData {
    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.0.borrow().values.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Every byte that is stored, values after keys: to search for what must not be there.
    pub fn dump(&self) -> Vec<u8> {
        let store = self.0.borrow();
        store.values.iter().flat_map(|(key, (value, _))| [key.as_bytes(), value].concat()).collect()
    }

    pub(super) fn get(&self, key: &str) -> Result<(Vec<u8>, u32), HostError> {
        self.0.borrow().values.get(key).cloned().ok_or(HostError::NotFound)
    }

    pub(super) fn set(&self, key: &str, value: &[u8], write: Write) -> Result<(), HostError> {
        let mut store = self.0.borrow_mut();
        if let Some((_, version)) = store.values.get(key) {
            match write {
                Write::Always => {}
                Write::IfAbsent => return Err(HostError::CasMismatch),
                Write::IfVersion(expected) if expected != *version => return Err(HostError::CasMismatch),
                Write::IfVersion(_) => {}
            }
        }
        store.last_version += 1;
        let version = store.last_version;
        store.values.insert(key.to_owned(), (value.to_vec(), version));
        Ok(())
    }
}
