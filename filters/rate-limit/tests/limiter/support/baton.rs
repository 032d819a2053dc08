//! Threads that run one at a time, in an order that a seed repeats.

use std::sync::{Arc, Condvar, Mutex};

use super::random::Random;

/// Only who holds the baton runs. One is handed to each thread.
pub(crate) struct Baton {
    relay: Arc<Relay>,
    me: usize,
}

struct Relay {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    holder: usize,
    running: Vec<usize>,
    random: Random,
}

impl State {
    fn draw(&mut self) {
        if !self.running.is_empty() {
            let drawn = self.random.below(self.running.len() as u64) as usize;
            self.holder = self.running[drawn];
        }
    }
}

/// Batons for so many threads.
pub(crate) fn relay(threads: usize, seed: u64) -> Vec<Baton> {
    let mut state = State { holder: 0, running: (0..threads).collect(), random: Random(seed) };
    state.draw();
    let relay = Arc::new(Relay { state: Mutex::new(state), changed: Condvar::new() });
    (0..threads).map(|me| Baton { relay: Arc::clone(&relay), me }).collect()
}

impl Baton {
    /// Hands the baton to any of the threads that still run, and waits until it comes back.
    pub(crate) fn hand_on(&self) {
        let mut state = self.relay.state.lock().unwrap();
        // Who has not held it yet comes to wait for it, not to hand it on.
        if state.holder == self.me {
            state.draw();
            self.relay.changed.notify_all();
        }
        drop(self.relay.changed.wait_while(state, |state| state.holder != self.me).unwrap());
    }
}

/// A thread that ends, and be it in a panic, runs no more.
impl Drop for Baton {
    fn drop(&mut self) {
        if let Ok(mut state) = self.relay.state.lock() {
            state.running.retain(|thread| *thread != self.me);
            if state.holder == self.me {
                state.draw();
            }
            self.relay.changed.notify_all();
        }
    }
}
