// libm's functions for the pure targets: the one ground file that imports the C library.
internal import Glibc

/// Real functions that generators, detectors and models need. Arguments in radians.
public enum Mathematics {
    public static func sin(_ x: Double) -> Double { Glibc.sin(x) }
    public static func exp(_ x: Double) -> Double { Glibc.exp(x) }
    public static func log(_ x: Double) -> Double { Glibc.log(x) }
    public static func pow(_ x: Double, _ y: Double) -> Double { Glibc.pow(x, y) }
}
