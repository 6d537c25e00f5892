// The Security Manager's cipher by OpenSSL's libcrypto, which is brought up when it is first asked.
import CCrypto
public import SMP

/// AES-128, AES-CMAC and P-256.
public struct OpenSSLCipher: SecurityCipher {
    public init() {}

    /// AES-128 of one block, as `SecurityCipher` says.
    public func encrypt(_ block: [UInt8], key: [UInt8]) -> [UInt8]? {
        prepareLibcrypto()
        guard block.count == 16, key.count == 16, let context = unsafe EVP_CIPHER_CTX_new() else {
            return nil
        }
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        var result = [UInt8](repeating: 0, count: 32)
        var count: Int32 = 0
        let isDone =
            unsafe EVP_EncryptInit_ex(context, EVP_aes_128_ecb(), nil, key, nil) == 1
            && EVP_CIPHER_CTX_set_padding(context, 0) == 1
            && EVP_EncryptUpdate(context, &result, &count, block, 16) == 1
        return isDone && count == 16 ? Array(result[..<16]) : nil
    }

    /// AES-CMAC, as `SecurityCipher` says.
    public func code(of message: [UInt8], key: [UInt8]) -> [UInt8]? {
        let code = OpenSSLAuthenticator().cmac(key: key, message: message)
        return code.isEmpty ? nil : code
    }

    /// The P-256 public key, as `SecurityCipher` says.
    public func publicKey(of privateKey: [UInt8]) -> PublicKey? {
        Curve.with { curve in
            guard let scalar = unsafe curve.scalar(privateKey),
                let point = unsafe EC_POINT_new(curve.group)
            else { return nil }
            defer { unsafe BN_clear_free(scalar) }
            defer { unsafe EC_POINT_clear_free(point) }
            guard unsafe EC_POINT_mul(curve.group, point, scalar, nil, nil, curve.context) == 1
            else { return nil }
            return unsafe curve.coordinates(of: point)
        }
    }

    /// ECDH over P-256, as `SecurityCipher` says; the point is checked.
    public func sharedSecret(_ privateKey: [UInt8], with publicKey: PublicKey) -> [UInt8]? {
        Curve.with { curve in
            guard let scalar = unsafe curve.scalar(privateKey) else { return nil }
            defer { unsafe BN_clear_free(scalar) }
            guard let peer = unsafe curve.point(publicKey) else { return nil }
            defer { unsafe EC_POINT_free(peer) }
            guard let point = unsafe EC_POINT_new(curve.group) else { return nil }
            defer { unsafe EC_POINT_clear_free(point) }
            guard unsafe EC_POINT_mul(curve.group, point, nil, peer, scalar, curve.context) == 1
            else { return nil }
            return unsafe curve.coordinates(of: point)?.x
        }
    }
}

/// P-256 and the memory to count on it.
@safe private struct Curve {
    let group: OpaquePointer
    let context: OpaquePointer

    static func with<Result>(_ body: (Curve) -> Result?) -> Result? {
        prepareLibcrypto()
        guard let group = unsafe EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1) else {
            return nil
        }
        defer { unsafe EC_GROUP_free(group) }
        guard let context = unsafe BN_CTX_secure_new() else { return nil }
        defer { unsafe BN_CTX_free(context) }
        return unsafe body(Curve(group: group, context: context))
    }

    /// A private key: 1 up to but without the curve's order. The caller frees it.
    func scalar(_ octets: [UInt8]) -> OpaquePointer? {
        guard octets.count == 32, let scalar = unsafe BN_bin2bn(octets, 32, nil) else {
            return nil
        }
        unsafe BN_set_flags(scalar, BN_FLG_CONSTTIME)
        guard unsafe BN_is_zero(scalar) == 0,
            unsafe BN_cmp(scalar, EC_GROUP_get0_order(group)) < 0
        else {
            unsafe BN_clear_free(scalar)
            return nil
        }
        return unsafe scalar
    }

    /// A point of the curve; nil where the coordinates are none. The caller frees it.
    func point(_ key: PublicKey) -> OpaquePointer? {
        guard key.x.count == 32, key.y.count == 32, let x = unsafe BN_bin2bn(key.x, 32, nil) else {
            return nil
        }
        defer { unsafe BN_free(x) }
        guard let y = unsafe BN_bin2bn(key.y, 32, nil) else { return nil }
        defer { unsafe BN_free(y) }
        guard let point = unsafe EC_POINT_new(group) else { return nil }
        // It also tells whether the point is on the curve; reading it back, whether the coordinates
        // are within the field.
        if unsafe EC_POINT_set_affine_coordinates(group, point, x, y, context) == 1,
            unsafe coordinates(of: point) == key
        {
            return unsafe point
        }
        unsafe EC_POINT_free(point)
        return nil
    }

    /// Nil for the point at infinity.
    func coordinates(of point: OpaquePointer) -> PublicKey? {
        guard let x = unsafe BN_new() else { return nil }
        defer { unsafe BN_clear_free(x) }
        guard let y = unsafe BN_new() else { return nil }
        defer { unsafe BN_free(y) }
        guard unsafe EC_POINT_get_affine_coordinates(group, point, x, y, context) == 1 else {
            return nil
        }
        var key = PublicKey(
            x: [UInt8](repeating: 0, count: 32), y: [UInt8](repeating: 0, count: 32))
        guard unsafe BN_bn2binpad(x, &key.x, 32) == 32, unsafe BN_bn2binpad(y, &key.y, 32) == 32
        else { return nil }
        return key
    }
}

/// Without it the first look for an algorithm reads the machine's openssl.cnf and modules that it
/// names.
func prepareLibcrypto() {
    _ = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_LOAD_CONFIG), nil)
}
