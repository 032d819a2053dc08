//! The policies that the gateway chain can have: the one list of them, for the module and for the command-line tool.

use portcullis_access_log::AccessLog;
use portcullis_client_id::ClientId;
use portcullis_content_router::ContentRouter;
use portcullis_policy::{Callbacks, Catalogue, Policy};
use portcullis_rate_limit::RateLimit;
use portcullis_xslt_transform::XsltTransform;

/// The callbacks that the policies need, taken together.
pub const CALLBACKS: Callbacks = ClientId::CALLBACKS
    .and(RateLimit::CALLBACKS)
    .and(ContentRouter::CALLBACKS)
    .and(XsltTransform::CALLBACKS)
    .and(AccessLog::CALLBACKS);

/// The policies by name.
pub fn catalogue() -> Catalogue {
    Catalogue::new()
        .offer::<ClientId>()
        .offer::<RateLimit>()
        .offer::<ContentRouter>()
        .offer::<XsltTransform>()
        .offer::<AccessLog>()
}
