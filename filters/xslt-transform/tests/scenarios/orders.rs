//! A published benchmark's pair of stylesheets: the second one undoes what the first one does.

use portcullis_policy::Direction;

use crate::support::*;

#[test]
fn the_response_s_stylesheet_restores_what_the_request_s_has_made() {
    let mut worker = worker(&order_transformations());
    for count in ORDERS {
        let message = orders(count);
        let Fared::Passed(there) = send(&mut worker, Direction::Request, SOAP, &message) else {
            panic!("{count}");
        };
        assert_eq!(there.matches("<lobmys>IBM</lobmys>").count(), count);
        assert!(!there.contains("symbol"));
        let Fared::Passed(back) = send(&mut worker, Direction::Response, XML, &there) else {
            panic!("{count}");
        };
        assert_eq!(canonical(&back), canonical(&message));
    }
}

#[test]
fn the_result_is_the_same_however_the_message_is_cut_and_ended() {
    let mut worker = worker(&order_transformations());
    let message = orders(7);
    let at = Direction::Request;
    let whole = send(&mut worker, at, SOAP, &message);
    for end in [End::Body, End::Trailers] {
        for size in [1, 7, 100, 1000] {
            let pieces: Vec<_> = message.as_bytes().chunks(size).collect();
            let (fared, sent) = send_pieces(&mut worker, at, SOAP, &pieces, end);
            assert_eq!(fared, whole, "{size} {end:?}");
            worker.finish(sent.id);
        }
        let pieces = [message.as_bytes(), b""];
        assert_eq!(send_pieces(&mut worker, at, SOAP, &pieces, end).0, whole, "{end:?}");
    }
}
