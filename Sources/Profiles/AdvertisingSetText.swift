// How a set is put on the air, in lines for people.
import Advertising
import HCI
import Wire

extension AdvertisingSet {
    /// What is not as usual, a line each.
    var radioLines: [String] {
        var lines: [String] = []
        switch address {
        case .device: break
        case .randomStatic(let given):
            lines.append("address random-static\(given.map { " \($0)" } ?? ", from the seed")")
        case .publicDevice: lines.append("address public")
        case .privateAddress(let isResolvable, let renewal):
            let kind = isResolvable ? "resolvable-private" : "non-resolvable-private"
            lines.append("address \(kind), a new one every \(renewal)")
        }
        if let extended = pdu.extended {
            lines.append(
                "extended PDUs, primary \(extended.primary.word), secondary "
                    + extended.secondary.word + (extended.isAnonymous ? ", anonymous" : "")
                    + (extended.includesTxPower ? ", with the transmit power" : ""))
        }
        if let sid { lines.append("sid \(sid)") }
        if let txPower { lines.append("transmit power \(txPower) dBm") }
        if channelMap != 0b111 {
            let channels = (0..<3).filter { channelMap >> UInt8($0) & 1 == 1 }
            lines.append("channels \(channels.map { "\($0 + 37)" }.joined(separator: ", "))")
        }
        if let periodic {
            let milliseconds = Double(periodic.interval) * 1.25
            let data = advertisingBytes(periodic.data)
            lines.append(
                "periodic train every \(milliseconds) ms, \(data.count) bytes: "
                    + Hex.string(data, separator: " "))
        }
        if let duration {
            let again = kind.isConnectable ? " and each disconnection" : ""
            lines.append(
                "on the air for \(duration) "
                    + (period.map { "of each \($0)" } ?? "after power-on" + again))
        }
        switch fallback {
        case .legacy: lines.append("without extended advertising: in legacy PDUs, in turn")
        case .skip: lines.append("without extended advertising: left out")
        case nil: break
        }
        return lines
    }
}
