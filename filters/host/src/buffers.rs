//! Memory that the host fills.
//!
//! When a host call returns bytes, the host first asks the module for memory and then leaves address and length
//! in the caller's variables. Buffers are kept here in between, so that a result is taken by looking its address
//! up: a host that returns an address it was never given, or a length that is too long, gets an error instead of
//! being believed.

use core::cell::RefCell;

thread_local! {
    static HANDED_OUT: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// Gives the host a buffer of `size` bytes to fill; null when that is impossible.
pub fn allocate(size: usize) -> *mut u8 {
    let mut buffer = Vec::new();
    if buffer.try_reserve_exact(size.max(1)).is_err() {
        return core::ptr::null_mut();
    }
    buffer.resize(size, 0);
    let address = buffer.as_mut_ptr();
    HANDED_OUT.with(|handed_out| match handed_out.try_borrow_mut() {
        Ok(mut handed_out) => {
            handed_out.push(buffer);
            address
        }
        Err(_) => core::ptr::null_mut(),
    })
}

/// The first `size` bytes of the buffer at `address`, if it was handed out and is as long. Every other buffer is
/// dropped: a host call returns one result at the most.
pub(crate) fn take(address: *const u8, size: usize) -> Option<Vec<u8>> {
    HANDED_OUT.with(|handed_out| {
        let mut handed_out = handed_out.try_borrow_mut().ok()?;
        let mut taken = None;
        for mut buffer in handed_out.drain(..) {
            if taken.is_none() && core::ptr::eq(buffer.as_ptr(), address) && buffer.len() >= size {
                buffer.truncate(size);
                taken = Some(buffer);
            }
        }
        taken
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_what_was_handed_out_once() {
        let address = allocate(4);
        assert_eq!(take(address, 3).unwrap().len(), 3);
        assert_eq!(take(address, 3), None);
    }

    #[test]
    fn believes_neither_strange_addresses_nor_long_lengths() {
        let address = allocate(4);
        assert_eq!(take(address, 5), None);
        allocate(4);
        assert_eq!(take(core::ptr::dangling(), 4), None);
        assert_eq!(HANDED_OUT.with(|all| all.borrow().len()), 0);
    }
}
