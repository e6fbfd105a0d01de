//! Several things at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::stopped::Stopped;

/// How often it is said how many are done.
const TIMES: usize = 20;

/// Does something with each item, with so many at once. After an error, or a signal, no further one is begun. Standard error tells
/// how many are done.
pub(crate) fn each<T: Sync, E: Send>(
    jobs: usize,
    stopped: &Stopped,
    items: &[T],
    does: impl Fn(&T) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let error = Mutex::new(None);
    thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if stopped.is() {
                        return;
                    }
                    if let Err(found) = does(item) {
                        next.store(items.len(), Ordering::Relaxed);
                        error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(found);
                    }
                    let (done, all) = (done.fetch_add(1, Ordering::Relaxed) + 1, items.len());
                    if done * TIMES / all > (done - 1) * TIMES / all {
                        eprintln!("{done} of {all}");
                    }
                }
            });
        }
    });
    error.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_done_once_until_one_fails() {
        let done = Mutex::new(Vec::new());
        let items: Vec<u32> = (0..100).collect();
        let note = |item: &u32| {
            done.lock().unwrap().push(*item);
            Ok::<(), ()>(())
        };
        assert_eq!(each(7, &Stopped::default(), &items, note), Ok(()));
        let mut all = done.into_inner().unwrap();
        all.sort_unstable();
        assert_eq!(all, items);
        assert_eq!(
            each(1, &Stopped::default(), &items, |item| if *item < 3 {
                Ok(())
            } else {
                Err(*item)
            }),
            Err(3)
        );
    }
}
