// AES-CMAC by OpenSSL's libcrypto, which is brought up when it is first asked.
import CCrypto
public import GATT

/// AES-CMAC with a 128-bit key (RFC 4493).
public struct OpenSSLAuthenticator: MessageAuthenticator {
    public init() {}

    /// - Returns: 16 octets; none where this libcrypto has no CMAC.
    public func cmac(key: [UInt8], message: [UInt8]) -> [UInt8] {
        // Without it the first look for an algorithm reads the machine's openssl.cnf and modules
        // that it names.
        _ = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_LOAD_CONFIG), nil)
        guard key.count == 16, let algorithm = unsafe EVP_MAC_fetch(nil, "CMAC", nil) else {
            return []
        }
        defer { unsafe EVP_MAC_free(algorithm) }
        guard let context = unsafe EVP_MAC_CTX_new(algorithm) else { return [] }
        defer { unsafe EVP_MAC_CTX_free(context) }
        var cipher = Array("AES-128-CBC".utf8CString)
        var code = [UInt8](repeating: 0, count: 16)
        var count = 0
        let isDone = unsafe cipher.withUnsafeMutableBufferPointer { name in
            let parameters = unsafe [
                OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_CIPHER, name.baseAddress, 0),
                OSSL_PARAM_construct_end(),
            ]
            return unsafe EVP_MAC_init(context, key, key.count, parameters) == 1
                && EVP_MAC_update(context, message, message.count) == 1
                && EVP_MAC_final(context, &code, &count, code.count) == 1
        }
        return isDone && count == code.count ? code : []
    }
}
