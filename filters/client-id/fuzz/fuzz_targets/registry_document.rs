//! Lists of clients of any bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use portcullis_client_id::registry::{ClientList, Document};

fuzz_target!(|data: &[u8]| {
    if let Ok(list) = ClientList::parse(data) {
        assert!(list.len() <= data.len());
        // The document is split into clients by hand; serde must see the same in it.
        let document: Document = serde_json::from_slice(data).unwrap();
        assert_eq!(document.version, 1);
        assert_eq!(document.clients.len(), list.len());
        // Written down again, it reads as the same list.
        let again = serde_json::to_vec(&document).unwrap();
        assert_eq!(ClientList::parse(&again).unwrap().len(), list.len());
    }
});
