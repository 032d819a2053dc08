//! The module's memory, seen from the host. Every access is checked against its bounds.

use wasmtime::{AsContext, AsContextMut, Memory, TypedFunc};

/// The module's memory and allocator.
#[derive(Clone)]
pub(super) struct Guest {
    pub(super) memory: Memory,
    pub(super) allocate: TypedFunc<u32, u32>,
}

impl Guest {
    /// Copies bytes out; `None` when they do not all lie in memory.
    pub(super) fn read(&self, store: impl AsContext, at: u32, length: u32) -> Option<Vec<u8>> {
        let at = usize::try_from(at).ok()?;
        let end = at.checked_add(usize::try_from(length).ok()?)?;
        self.memory.data(&store).get(at..end).map(<[u8]>::to_vec)
    }

    /// A 32-bit number.
    pub(super) fn read_u32(&self, store: impl AsContext, at: u32) -> Option<u32> {
        let bytes = self.read(store, at, 4)?;
        bytes.try_into().ok().map(u32::from_le_bytes)
    }

    /// Copies bytes in; `None` when they do not fit at that place.
    pub(super) fn write(&self, mut store: impl AsContextMut, at: u32, bytes: &[u8]) -> Option<()> {
        let at = usize::try_from(at).ok()?;
        let end = at.checked_add(bytes.len())?;
        self.memory.data_mut(&mut store).get_mut(at..end)?.copy_from_slice(bytes);
        Some(())
    }

    /// Lets the module allocate room and copies bytes into it. `None` when there is none.
    pub(super) fn place(&self, mut store: impl AsContextMut, bytes: &[u8]) -> wasmtime::Result<Option<u32>> {
        let Ok(length) = u32::try_from(bytes.len()) else { return Ok(None) };
        let at = self.allocate.call(&mut store, length)?;
        if at == 0 {
            return Ok(None);
        }
        Ok(self.write(&mut store, at, bytes).map(|()| at))
    }
}
