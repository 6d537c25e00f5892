// The fixed channels' numbers and the basic header.
import L2CAP
import Testing
import Wire

@Suite("Channels")
struct L2CAPChannelTests {
    @Test("The fixed channels have their assigned numbers")
    func numbers() {
        #expect(L2CAPChannel.attribute == 0x0004)
        #expect(L2CAPChannel.signalling == 0x0005)
        #expect(L2CAPChannel.securityManager == 0x0006)
    }

    @Test("The basic header is length, then channel, little-endian")
    func header() {
        var block = ByteBlock()
        block.appendL2CAPHeader(length: 0x1234, cid: 0x0004)
        #expect(block.bytes == [0x34, 0x12, 0x04, 0x00])
    }
}
