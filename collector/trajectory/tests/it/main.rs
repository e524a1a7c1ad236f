//! The store as other programs see it.

mod other_readers;
