// Times on the air against the table of packets.
import PowerModel
import SansIO
import TestFiles
import Testing

struct AirTimeTests {
    @Test("Each packet of the table is on the air as long as it says")
    func table() throws {
        var count = 0
        for line in SourceTree.text("Tests/PowerModelTests/Vectors/airtime.txt").split(
            separator: "\n") where !line.hasPrefix("#")
        {
            let columns = line.split(separator: " ").map { String($0) }
            try #require(columns.count == 5)
            let phy = try #require(RadioPHY(rawValue: columns[1]))
            let payload = try #require(Int(columns[2]))
            let time = TimeSpan.microseconds(try #require(Int64(columns[4])))
            #expect(phy.airTime(payload: payload) == time, "\(line)")
            if let pdu = try pdu(columns[0], data: Int(columns[3])) {
                #expect(pdu.payload == payload, "\(line)")
                #expect(pdu.airTime(phy) == time, "\(line)")
            }
            count += 1
        }
        #expect(count == 66)
    }

    private func pdu(_ name: String, data: Int?) throws -> AdvertisingPDU? {
        switch name {
        case "ADV_IND", "ADV_NONCONN_IND", "ADV_SCAN_IND", "SCAN_RSP":
            return .legacy(data: try #require(data))
        case "SCAN_REQ": return .scanRequest
        case "CONNECT_IND": return .connectIndication
        case "ADV_DIRECT_IND": return .directed
        case "ADV_EXT_IND": return .extendedIndication
        case "AUX_ADV_IND": return .auxiliary(data: try #require(data))
        default: return nil
        }
    }

    @Test("Payloads outside 0 to 255 octets are taken as the nearest that there is")
    func limits() {
        #expect(RadioPHY.le1M.airTime(payload: -1) == .microseconds(80))
        #expect(RadioPHY.codedS8.airTime(payload: 1_000) == .microseconds(17_040))
        #expect(AdvertisingPDU.legacy(data: 99).payload == 37)
    }
}
