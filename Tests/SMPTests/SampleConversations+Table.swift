import BluetoothLE

/// Whole pairings: what each device sends, with the addresses and private keys of one of them. The numbers come from the tests of Apache NimBLE,
/// which give private addresses the type of public ones.
extension SampleConversation {
  static let all: [SampleConversation] = [
    SampleConversation(
      "jw_iio3_rio3_b1_iat0_rat0_ik5_rk7", isSecureConnections: true, role: .peripheral, central: ("E0:94:67:A0:61:CA", false),
      peripheral: ("0A:45:00:11:22:33", false),
      digits: nil, isAuthenticated: false, privateKey: "548d20b8970bbc439aad106f6074d46a55c17a178b60e0b45ae658f1ea12d9fb",
      key: "63598a14094b946effae5e538602a36c",
      pdus: """
        i 01030009100d0f
        r 02030009100507
        i 0cbcf2d8a5dba3956c99f9110d4d2ef0bdee9b69b6cd8874be40e8e5ccdc884453bfa9820e187a14f877fd8e922af85d39d16d921f387499dc6c2c9423f97256ab
        r 0c728cd188d7be49b2c55c95b364e01232b6c9476337385b9c1e1b1a0609e23185193a296962d630e7e84863dc00730a707d2e29cc917771b175b8f7dcb0e29110
        r 0382edd062913d967f13c50d022b5e4316
        i 04a4345fb3af734364cd191b5b87583166
        r 04c091fbb377a2020bc6cd6c0451454539
        i 0d82651d02ed891344041a147c329a1e7d
        r 0d063c284ae5484b51654e145e2fddfa22
        key
        r 08ef8de2164fec430dbf5bdd34c0531eb8
        r 090033221100450a
        """),
    SampleConversation(
      "pk_iio0_rio2_b1_iat0_rat0_ik5_rk7", isSecureConnections: true, role: .peripheral, central: ("E0:94:67:A0:61:CA", false),
      peripheral: ("0A:45:00:11:22:33", false),
      digits: 879894, isAuthenticated: true, privateKey: "548d20b8970bbc439aad106f6074d46a55c17a178b60e0b45ae658f1ea12d9fb",
      key: "30f6d32e1c812c96563055ec9b72f483",
      pdus: """
        i 0100000d100d0f
        r 0202000d100507
        i 0c2226cc644dc101d1b98de2d4bc55374c1281148381e8361b78ff49fce92e56c0d931a58d02f194b68397d1fb01974d06ec188d4ad21412952d4d18de4daa9125
        r 0c728cd188d7be49b2c55c95b364e01232b6c9476337385b9c1e1b1a0609e23185193a296962d630e7e84863dc00730a707d2e29cc917771b175b8f7dcb0e29110
        i 032c16150de81850d8ae046ca850b8e585
        r 036253fb69943311d38e03d505d7683316
        i 04d50e27cfa4c1521bf19d5fbee2c04838
        r 04943195446cc573c88d7206e7fd16705d
        i 0380ae74aa9afc099710014ebb16366bc7
        r 035ab1e5815a1beff4a83daa3f021f7855
        i 04044af4d54b4f77372a3cfe83346b381a
        r 0424b347c8b0a2a3d8783d098dea49f622
        i 03565f07303ac144f90003b39358b42c85
        r 03508ab30be42ed3495940b271c9492919
        i 0432378e636dbdd618eea70ee57e5fe180
        r 04a21a92cdc08f92b0e6be4355c847564b
        i 031ba082dafcaf3f9cdfffa218babd9b48
        r 036a90b71c934e4a8bdae8136e019174b1
        i 0441bf60641dfce2ee00a32ab1f8346beb
        r 04eb9caf20140ff23eee45cae8dc17ab22
        i 03758f97bb87a870da945ad60978e3dd43
        r 038c2da744d915a89edf3a59a5ee92243c
        i 04b9e0f3f66fbda07a822061bef3e64eac
        r 04dd9bd310ed12e8b5a259e1dc5cd86e96
        i 039dc797678dd0d61a4d52c08d87a975f5
        r 03d45d617638e38185185facde4957f69b
        i 04fe83e9c6e9a4830daf276f797a2b2d1f
        r 04f20c9e755bb18cf1464f68e80a65d581
        i 03152b2e14f731a2ff93a72865b16896c6
        r 036f01221478fb93f4faf16d33490e7d56
        i 0405e5ed99630529b1bdf72ba694fe45b2
        r 0451f12aa67be0b3207d7ed347fb83e1c6
        i 039e7a3d123b3081231c9442734168c617
        r 03553141e81f11a6067a7c8410add373cf
        i 04cb9218f6596a1b18637254c21a3d0967
        r 04aef296fdffd718ac5db29d89562a19ae
        i 03068d5d19b327c96ae858e717106af9f7
        r 03f0bc2a031f9b7b58430ff517c4bdec23
        i 04be78cd84914a1bdd6a0d88729ec24f5a
        r 04ffacfe712f6a13dcd3028188bfc99cd6
        i 03b08d47237edbf5645e83529f06658410
        r 034d3fd45a4557e9d71e657aa0d85aa829
        i 04b0cdfa390d2e07fe36478d8e1a4767f2
        r 04b4f51264f4f6d76eeb1e9a3f18bafb99
        i 03c976b33f80d90cfbe3901b7abce17cde
        r 03216a456e6aacba9e66395bb674fe2b28
        i 04c0d4df7b0f2faa684e3da4596f24e67e
        r 04df8949e79f60ddf64497e3155265673e
        i 03b03f34ce7d2ef1ab23d589f5aaa8599f
        r 03b1336a64d8eb8ba0f41a1528b9e4a131
        i 04d28824fe9511c50a21fb96ea61b98b26
        r 048f22668e7e623437fc4a481ff7383b4e
        i 03c450c85358fbea9adc35c7f35b7cfbe4
        r 0327d932d643bf573f35733c3ebe5319ff
        i 0499a17a5fe0481c6c84acabed69551e66
        r 0437509035ef840618fd3bc18a4691b821
        i 032fcb3ec3ce820b5cdc9cbd44f904228c
        r 03abf22e40d0744fd4269c899e3877ac9d
        i 04bcda58a29888fe9f950e3a91bae9bf02
        r 0404b94c26ce878f17dcbc369447679fde
        i 03bdb654c81f512398483d479da3b8e755
        r 0306c27b80769c377846c545435d8d5b3e
        i 04ef9e8a3ab7dea8075873e007fc62db62
        r 04fad5b24e200193c0b376a57a928fb96d
        i 03762ec6646c13017e347812b81ab7f739
        r 03bdae1032db63306f6819495e344f13c6
        i 04952ee4e3b2dc79ad5f0c199c479c7917
        r 049e3d7fcd1840d7aca1455fcb29572b63
        i 0310189df2ed765c5f32a6296112b2b8a2
        r 033cd4bde9d329acf7fc04d3e44614282c
        i 046de877c3ab496b794f0f4c65c57768d9
        r 04d059f353b11481882688ef4ba47d0a84
        i 03a3969f96530e38789ebdf765237399a7
        r 036b258d51d8c4d9bfa64fa32528b57c05
        i 04a5acd9b69e9875ae9b16e160c6a507f2
        r 04655356e62c2268c9b8beb14008e2b6b9
        i 0367cd0e4ffc387f8a3beaff86f38a92cb
        r 0322951f20c95c7339a4d9c1379d94b2fd
        i 04e18082dd216ce493a3410ffc96428bde
        r 04111cd77ae71a88dd2adfe530ca0b9fb6
        i 03459b363df8c0436d94cfbd5ffeecd74b
        r 03f0aafdaeb7733c9d93d400ea8131de41
        i 041aaaff2adccc89bccf485c1e4d698539
        r 04e7d0cb9ab576ecfc48a341484ca7ecb7
        i 0de34e42b5e3634b7cf09fef6e97e286c0
        r 0dea8aab7f15215a369b56ee516197e20a
        key
        r 08ef8de2164fec430dbf5bdd34c0531eb8
        r 090033221100450a
        """),
    SampleConversation(
      "pk_iio2_rio0_b1_iat0_rat0_ik5_rk7", isSecureConnections: true, role: .peripheral, central: ("E0:94:67:A0:61:CA", false),
      peripheral: ("0A:45:00:11:22:33", false),
      digits: 222333, isAuthenticated: true, privateKey: "d62f4f6bebfcbdee9b94d71598c60c839bc7a245fd00e8a452e9702fd762f1a4",
      key: "d602ba3da2ce931afdd6b55490c42a8f",
      pdus: """
        i 0102000d100d0f
        r 0200000d100507
        i 0cd6a7afc1188b922fbcbc4db85cfb397c1e907efaa20dee9eb49ebe50f0bc2c10a425ad75beab1ecf4ec819ab6c6838a4e7437b19ef28d59352e9b93168601971
        r 0cbc6acfc68a3adc89dda9af29c7afe28b25eecea6101d332fd5fc30b8b17bb16e1ac6423698404f9082a0103aa50fcf57d22e809d61c721ac475b937502304014
        i 03d16449a0c42881570c2562fb2ca2b0c7
        r 03eaae4e0300f9d165c76a0d744f020b94
        i 0405b2099b36234f744ec97a2c653ad1f6
        r 0450d888d47ec136920fa7173cb4ebeea6
        i 03aba2d0ecddf3d2a92dde4b0266452fc0
        r 03a9c19d75d0b6ec063187b69d31dc927c
        i 04b95be00f83e72d772f550a2cd9c146cd
        r 04a29a5b99b1c0c5d6f1870b499cfdfed5
        i 033a9d58e5b031d9deacd244b7e1e58950
        r 03ae4e4f845f4cd19b81229c6852e09afc
        i 04a5bb5f9aa297dbcd3dfed958215299b7
        r 04ea44dd0cbfb56bc7e119e80bc2150437
        i 03a8a3db08ca31d5ef173777d0642e2f2f
        r 03e4f6a5941a094b7579b80ce6e2285a2c
        i 041a3f806fd3e8c5fb9bdaa107681a54bc
        r 041b482287042487ba14b985b2a6f5ea89
        i 0331cbc40c36b5e232d80ed38696e38c84
        r 03901130355fe545ffabd3e0be1c2023b8
        i 04a0c779288719a37833e51a81ba9be35c
        r 0443cf201b393fdf7358d20dc741d758ea
        i 0359da78ebd5cd8e23e55ea7a5ba1300ff
        r 03317af0568269dbcd275a11d365820dda
        i 042ee876409c4907421e457b1e73a37105
        r 046499425d05d612412a445526e7085efb
        i 031c55e1754f6edd7ec8ff7625db2a6de3
        r 03f636788862a878e6f9a1176386d3ae60
        i 04969a1cbe8282c2a718c37b405d6c4ee3
        r 042b7d36c3f75963406fc02a2b1bd74138
        i 03889953ae2aaf975acc9ffde21dd32766
        r 03dbaefbf733d4d1cbfe758e8116d149eb
        i 04135c0034e596d097b1843d00b42a4a12
        r 04ed941f4112e5355ba66a721ea27ce16c
        i 03a3c717adb6e6aa168d4b705f4973a719
        r 0310b031a71661f7d6e6169eb19eb55e94
        i 046fe76273fbbff14a14a10945d4de26ad
        r 043f48a7df4ad55526d332bf984a20adb0
        i 03881ceffe4e68417ce8e8811ab99eafc6
        r 03a3532ae1bd9dbe89f8c7706ea912070d
        i 0452065609f4b2b9633f2e596c6b43b6c0
        r 0436b0338452d160ac37816b185ffc61b1
        i 03c855b79e3ef026a455b31d4da15da9af
        r 03b7b96b8eefd3bc5810be5a9a4dbcece3
        i 0455a1f4d7fae18403edb695634b9393c2
        r 0472a9e5f7481f6471d981f0c54d38ac9a
        i 03123756a666a123eee31e206666857ca8
        r 0374aabb5adfd9c4afe4a7e64b4597f87d
        i 0429ceccb7b21e0ea84890436d34a4a312
        r 042eaf4c63842c6267688f0bfdffef1526
        i 03eccf6a6077042c6242f021fd53d68ae8
        r 032c136569d76604133ca8fbe576bb4f48
        i 040d9330e276f1bc24610dcdef3398e23b
        r 04b6326981c08146ae8d5a17b5c00f9f4e
        i 038996220c76df2713965a0c8865187452
        r 031c772522c028884529627a8ec02a5cd8
        i 04cc84b6983ef909d2714756b109f5d20b
        r 04f0cf1ca624cdfa42a4938ba0e3427251
        i 03abb0a3800dcb8ef66c0750e98a8502ae
        r 03f652d83415629f6e2b52dc1c70170a31
        i 048dc90a45e9810d5ebbd89429684244e2
        r 04962a353909f7665ab633776dbad38afb
        i 0353089b37c379e68c423094736f396420
        r 034db7e9508e0fe0d53ef632ddb81877d3
        i 048d4914dd955755144897d37329a0b92b
        r 04cf388babe42b3f13c3fb07ee0e332f04
        i 03c65813195606524b3d5e9da848f240f3
        r 03bb93d2ed8966a51cc92a422cff4a8084
        i 043d9c112ad3ce4b20f2fbdd184d7c58b6
        r 04da80639da27361dd9a45914d78395475
        i 032ee444e8dbc2bd62d1c4234e5f65b63b
        r 031991a3c73b681224cdd602f5cd196c88
        i 04f02818e8a73ed8214258b372a0348904
        r 04e9ff0b9afd299537892c84fa02a0b6eb
        i 034f9070bec4819fc174a3012e787ae261
        r 03bbd591ec81e09b5ee9d29357a827dd9b
        i 0478a4351abca7198c968f639d11ee2744
        r 04395b71fd7e396bbeafe15590a658ecc5
        i 039143e5c8260c8c6cf3d130b322944c67
        r 0351c43e09ca03be2ce81a5d0712142d43
        i 042fa120def5b4a69231e98663efc1853b
        r 0441d0d09693d1cbedab27d5885ee65e5c
        i 0decc55ff3aefe7965175a60f7364f9045
        r 0da7457a541b640860517d742748a2f10f
        key
        r 08ef8de2164fec430dbf5bdd34c0531eb8
        r 090033221100450a
        """),
    SampleConversation(
      "nc_iio1_rio1_b1_iat0_rat0_ik5_rk7", isSecureConnections: true, role: .peripheral, central: ("E0:94:67:A0:61:CA", false),
      peripheral: ("0A:45:00:11:22:33", false),
      digits: 516214, isAuthenticated: true, privateKey: "d62f4f6bebfcbdee9b94d71598c60c839bc7a245fd00e8a452e9702fd762f1a4",
      key: "d87f0a9441a5fd841501b72a7ae4fdfb",
      pdus: """
        i 0101000d100d0f
        r 0201000d100507
        i 0c410d958a68b8cf0758255f97d299714406fc9c4dd17480ed49d1366b558b543b0f1a6145e54b1113b3158709ec16f8412ee2159314569fcd607d92ecd3b585c5
        r 0cbc6acfc68a3adc89dda9af29c7afe28b25eecea6101d332fd5fc30b8b17bb16e1ac6423698404f9082a0103aa50fcf57d22e809d61c721ac475b937502304014
        r 0373c8565e333726b600659ca1eebf61f6
        i 047c23037054a270e42de9886f40d62fb2
        r 042d9fe81df24e2e58168c83899270a2ba
        i 0dc08a1cff7fd6bcee19a5c63abd484bc3
        r 0d383683d51afbe63c800c818178124138
        key
        r 08ef8de2164fec430dbf5bdd34c0531eb8
        r 090033221100450a
        """),
    SampleConversation(
      "jw_iio3_rio4_b1_iat0_rat0_ik7_rk5", isSecureConnections: true, role: .central, central: ("01:08:07:01:01:01", false),
      peripheral: ("E0:94:67:A0:61:CA", false),
      digits: nil, isAuthenticated: false, privateKey: "afce1245a8e0a9458a56c5bf3bf90469f2f9e4d47eb7c965b1683eabcd8e6f1f",
      key: "2e6c8bdb9e193e3d4d6d29bc89ca57ed",
      pdus: """
        i 01030009100707
        r 02040009100705
        i 0c45cadae3657cf53736668b3b54b92bb209d56ee0041dd649ff554135a02f12ee6541d37b59f2af9478d863c49b9a9a92330f146798519dffef59b717c2167218
        r 0c9e440957b701785b4e500d990d52882419f54053061e68d0fdd2848bae9df7d9c2e7e001b32a1b0119d114b5c898022abe6b331a99187723d48b8c09f57720a0
        r 03bd85be80d97716a3651adfff5a6f8b37
        i 04b5597c8e7b01ac098fe897988d3fb763
        r 04861f76112e83ed999bc09aab7f9420cb
        i 0de09f87879f82c5065f11faa0e3bf72f2
        r 0d26c2f1b9f1c2bdcbdb94968e08cc53d4
        key
        i 08ef8de2164fec430dbf5bdd34c0531eb8
        i 0900010101070801
        """),
    SampleConversation(
      "pk_iio2_rio4_b1_iat0_rat0_ik7_rk5", isSecureConnections: true, role: .central, central: ("01:08:07:01:01:01", false),
      peripheral: ("E0:94:67:A0:61:CA", false),
      digits: 516645, isAuthenticated: true, privateKey: "b16b4f81bce3609e0020f1733efbcc6e8cb6d251d9368a6dca8cd7be9603dfd6",
      key: "f1411a5b60c143c680345e7fd80c75dc",
      pdus: """
        i 0102000d100707
        r 0204000d100705
        i 0ce50f020a3790945a0621f7bcd5beb9248a35fdf85ee270d55ae8e7dd1390ebd441c8511a254401534274079c18e63b8ace7a371f185c027c6716f5302b31a9c7
        r 0c1bd20379b49b0ad71b28732ad7e6a0d42d958d29af6aabeea00d134de71676912a262c5055d12b83f65fdb995f85f6781c14edd3705ee52c051e5cecf8654349
        i 03552caa4159424dfe4774cd2b11ab21e6
        r 036a3c45f5b2e20430ded63c6d8500002c
        i 047806046076e9c45afb3444ae45a084de
        r 0491c8fd1bb2850876d3f1c4a0fa928c94
        i 03b12f6835a1a584b14f1ab1b5f0b2be61
        r 0307d84374e842f3f1873d9e92ea33e854
        i 044cb7cc6d909f1e2d9d1e52a7e00c7bf7
        r 045c3282c876173b1866dabfc3134905fb
        i 0327614d0464a958f1e0f9e5780b54890a
        r 03e48fdbc835ed4e7dbc927f5802aabf6b
        i 04fe8508e0359013a9d3cfb66d36afbd59
        r 0447408e97e3fe8f52295e6b44df0d60f4
        i 03acab137c1a6e7adbf6e8729fc5c3991b
        r 0379f2d1895ea5a290ee2536815a872082
        i 04d446a0c43dae2206af5d9396b706c361
        r 045f81978b52871c67e004cc50d92b16b5
        i 036c51c361777ff1059e0fbafd32020945
        r 0354e524816268e245862c112815a88e5b
        i 04bb293abae64f06cfa31327f2cbe4d2e6
        r 0450bad00e26ab04f8a2031e639af715dc
        i 03123efe5ab1096f17b7777e6588d49556
        r 03c69bacde7e037ad3f1ff3c4f4a85ba73
        i 0417d55e69302c1f01879cd6d2e4488c84
        r 049d54834acd937c1e5bafd2668c2daac3
        i 03dc2469a8d3a9171108371a1e9203ee36
        r 0398f8727199a0bdcdb1974c8ab8a81a52
        i 04bfb18ea514e3eb9e2927e019b1b25cfe
        r 04ae8a9278537bdb8cec3a992b94f117fe
        i 03cfaf7073536589573698d2288679fe85
        r 030d2d778a2111d9619f80328a32094242
        i 048bd253cd96d114b5ea17b1a3a8fc3c2b
        r 04c24f8460547916ed1a6e78a09958f294
        i 039a4cbc9c5515a24fa25d3ba743b39c63
        r 03a3b188a570caa3a9672aac995e6168a0
        i 04cfcf5b94e0b29d5a867145ced9ce13ba
        r 0410968a50a4d0aa5fd632db097e229642
        i 03f090612504294fb68bd57349bdf79be7
        r 035be6b43f1b7712758494c607faa14194
        i 043d1aa395ec7284f4c5cdaa48e90c0fe3
        r 048a5a53fc075201b9e92de79d8c7cc7b3
        i 03e78ec5087f7eb8dc05883a925af59ba9
        r 03f7a2b6eccdefcbb76fc3ac17e2fdfa42
        i 040dd1a21dff74c599e067079995753976
        r 042f13d159fe2060f0020cea79d7408685
        i 038b5787ddb1cc2d65c1baac884823dae7
        r 03b3c42eea33af129cb5aba19530ca4648
        i 043557cdd5d2f8d7f27be3d7ba31a5cafd
        r 04e23b20beeca5343b7623532836c46013
        i 03c9fe0349e4ff7ef700d12b13b1156e92
        r 03bca2f2035cfd207bd01fd650ecc67b31
        i 040450eab8ca361a6192eda067781510b5
        r 040c8e9d7b9d7eda23bb61d9ff4677331b
        i 039affd6e51ac3d33734eb3e3a8e0b86b4
        r 03f63219b4086b8a0fc99c1b68b8a0d0c9
        i 0486eb5cf933547de4a4e2e1f66bea34ed
        r 04ad53a06ede1dda993145e53a73a15ee1
        i 0393d4e0aa0c91badec95c68b0ceb684cd
        r 0385c70502219d4c4c16f78f7baab48f37
        i 0484fdf1391a9aa5b849c066dc33713287
        r 045daf38cdb583aaa0ab3082ed6fd275e7
        i 038812e889d4526dac612a85851e9c8221
        r 03c1e9cd21296a78e47b7d73259e9b958b
        i 0495879d5a1014a0df5e02223923c9bcba
        r 041b91e2dfcafe2b61338c83bfcfc372cc
        i 03cec968f7ea41185c166a98130c10c2a3
        r 039773c972689963ed813b5cee37fccaae
        i 045b85b01bc3de18bac1c78999fecddb6a
        r 045e1acbbcda41065a14343ab1a16fb2d8
        i 031d598ab019e5ff45b6c33364d16eeedd
        r 034c9be8685234efe184bd3785530dd5c1
        i 04a6f797189a3e9dcf91a3a38eda8f8f90
        r 04941019178d0a72fd249dfd374edf4c30
        i 03fc648a8b3717906d250ec618c9c9c22a
        r 03509886f5c0da452deac89d2804d8736f
        i 04131038e8176d72d594afed4f23a041fc
        r 04dfedf708ce64bc11417ad9f74ad94a15
        i 03ae248fdfb057c49ce6ae9bc24d3d1ccb
        r 03cc5ca3bed783ee6080ff5f1a07bf4c33
        i 0493c36206cbe5b0010218a2504c73a227
        r 04112ad306289cdf73a5a4e51e07cfee71
        i 0d73a0405878205f2cf41923a874bdc23e
        r 0d5a30bcceecdff0323c18a3d33f208710
        key
        i 08ef8de2164fec430dbf5bdd34c0531eb8
        i 0900010101070801
        """),
    SampleConversation(
      "pk_iio0_rio4_b1_iat0_rat0_ik7_rk5", isSecureConnections: true, role: .central, central: ("01:08:07:01:01:01", false),
      peripheral: ("E0:94:67:A0:61:CA", false),
      digits: 866744, isAuthenticated: true, privateKey: "b16b4f81bce3609e0020f1733efbcc6e8cb6d251d9368a6dca8cd7be9603dfd6",
      key: "ce2891a936b7e1da3c66d9333d038e31",
      pdus: """
        i 0100000d100707
        r 0204000d100705
        i 0ce50f020a3790945a0621f7bcd5beb9248a35fdf85ee270d55ae8e7dd1390ebd441c8511a254401534274079c18e63b8ace7a371f185c027c6716f5302b31a9c7
        r 0c030d1355d9ee3fac8e8aa62acb6035b9b24d63915ea1dddf60dc6e09b99ef14da809311e39967441ea194f2436577c9f21a3ada13de21c6ad6c9dbffce0a9412
        i 033b3db22f720f931995db88df5d589537
        r 0398ab208d513b6c292d7315f66d6db9b3
        i 04c1df203d7bcb5fe29a239cba2f423cb8
        r 047d82b4ae41db678f5401216431d4fcb5
        i 03c3a5d0ddd5ec1dc3149579b2614d4f36
        r 03e220f44da19c835118f9352a5150dfe7
        i 0471cb01b483dcd8540fe5d56b6a0d98b6
        r 0430bfd3fdf4c2a1d0ba4b277c299854a2
        i 03f092c4da8a177cc614057dbbfc7ccd0a
        r 03f389cae0fbbe8cc34c6c6e11364eaa25
        i 04785af01e2a0d16b3034b4b6817e0f082
        r 04bf96ddf5302ae98cb913c5b7151fa39b
        i 0336e44c00e70deee495b86af9f724efea
        r 032e908785b829939e38a6db17b2a83265
        i 040aee93f656358eed3f45a50159ebeaa8
        r 0438d0f8115e477266ce569c815f52d49a
        i 032c989b71e4de6d208430ab7afc4382c6
        r 0376fe1f78aa42d5c69fe4a7c7b8d21e59
        i 04615e47b1776f04ee94c46ca9f5f8116e
        r 04a5ad986528fc6b026d9a29611c020a6b
        i 034d553e1f8712c76cd79aa6f16e48d37d
        r 03ff776eba1fb7bd0b3fced539811751fc
        i 04f92c7741cd9a1099c6705ac82426b2c8
        r 04a0440a8bda6a74905f8944a59a58d508
        i 037e6e89c8bede1cc345b64c8371e2d6da
        r 034a297b8897c16085327df1aa04138911
        i 042aaf7d214e14f57ecc39f75645872364
        r 0474d2fff019f787e70d652761ea9e053d
        i 034f77220858ed8c60bfbc780c80c9b760
        r 03d247fdeaa33253c106cd64eb88640ee5
        i 04c8d045a829db5a42fe68a87a0a1322a4
        r 04781446e2470ed4b4de354a824b329b46
        i 032496e550faffbadf6b764060565e5a66
        r 0309fe153e55e5beb78daa0459e68b2c4e
        i 040225be8837b46ecbbca9ef5afd1a5f5f
        r 040b35dc9b3df7a699f3b93c73670ecc12
        i 03381cf7f031b120a0511cf1bd67fa84b4
        r 038ea1c1f539f00049fbfcdcdf870e967e
        i 04d0ed6c52204b7b24dd28532d7176fb8f
        r 04acd7346b7b599e9b5b37c65c3e9de213
        i 03a6d7b6d6b5014a020df022cb68ad7d73
        r 0301cc5fbcd022a1b2719d5c97fad36ac7
        i 049f3a25c79bb7b351ffde3b1cddf50821
        r 04751e8da45b35ecae17daa543763c6a67
        i 03fc0c3f86bfbe960f9911a53603cdbd7f
        r 0348cdc889d61c0db190010eea80bcffb3
        i 04ecfce30a97ede8515d643c73592e62ac
        r 04817444caec38206d5227495561970134
        i 03278c8809cbd645b7304b1bcdc3ac83d6
        r 03eabce243c8e006d87b3ea45595a2239b
        i 04688fb67b910dc930e7b7b77a7929597d
        r 04fda13daf8dd2a0028292eb2e4d6c8d69
        i 036fa820811c4be8e3dcea39bdfbbf79c4
        r 032a09ec32633d385d28b2b162ee6c0a6c
        i 0435b5c5c0741f40ac23520268df6273ca
        r 04b8e265dc22cbc2db006037e2ccc04172
        i 03050b5ca7589c08814a6b12aeaae581f3
        r 03dd2bd1dd4992f3e1aef36d89fd77f9aa
        i 04bc27291bc4bc0e889550f792e6f729e8
        r 04e715fe5377d9981d5b4e37a31fc9475d
        i 0375709f843e6b88cb66da8f79bcf84499
        r 0313e443b26172fd33ba8744276f9aea19
        i 04da905972ed67de6521ab7d9d728c888e
        r 0494920f6c08deaea7fd36e002c8fddd69
        i 0335681e8037c491e8bf5e270caa8e857b
        r 031e42472906dc2b45ec952331292495f0
        i 044e9f5d5a8ff728c929620a6719175ea7
        r 047cd413ba271639e7f0bfec1ee5cc200b
        i 03b9cdf5f92b4f6d0851e0929915ca152a
        r 03b8f2f9614f0efd19cb5d7e93877a0a6e
        i 048bf8c8ebe5dbcffe68701fbe1e3c947d
        r 040dfc682e50319f60e61272247cadf748
        i 03276807aaa6331349654c8054fb69cb0e
        r 03c58d4581b05a690f6c890b601e279b9e
        i 04974695b586a1c1863a8a1f2938e0697f
        r 048f0e56171c4b781fd18a69bd65e3de3c
        i 03d2a54e3134de68f069886f28a2ddbae1
        r 03f85e4f4d56f622c05704044524830980
        i 0464e15a767194c0642bea9dafbd10259b
        r 041e386e6655f17f557c00ffad07132597
        i 0d98f15a24815db5ac044e3a318b7df609
        r 0d1ab4f4f3c05af3138d6e01161e54f3e1
        key
        i 08ef8de2164fec430dbf5bdd34c0531eb8
        i 0900010101070801
        """),
    SampleConversation(
      "nc_iio1_rio4_b1_iat0_rat0_ik7_rk5", isSecureConnections: true, role: .central, central: ("01:08:07:01:01:01", false),
      peripheral: ("E0:94:67:A0:61:CA", false),
      digits: 344302, isAuthenticated: true, privateKey: "b16b4f81bce3609e0020f1733efbcc6e8cb6d251d9368a6dca8cd7be9603dfd6",
      key: "f56002972fbb3ce997d7d5580496a6e7",
      pdus: """
        i 0101000d100707
        r 0204000d100705
        i 0ce50f020a3790945a0621f7bcd5beb9248a35fdf85ee270d55ae8e7dd1390ebd441c8511a254401534274079c18e63b8ace7a371f185c027c6716f5302b31a9c7
        r 0c7c2739dc10fa57974a18dc0efc4bd0ac3aa44c65b5be7bd8d1fd9df8e3004ef3aefd8e93b4a94dd3b6bd4c1dc17e675707104ed00f2323ab0986c3b96314e4e5
        r 0340356da119a68bff4f0c867e957cb8c1
        i 0495840d2d7afd5aa6eafd7bf06895eb77
        r 042541dadfddcacd2e4979b0aa7a23287f
        i 0d49bb899ea110267ae74251cd1f3b221d
        r 0d5951c87b4faefeb80c41e8e0f94c2bc7
        key
        i 08ef8de2164fec430dbf5bdd34c0531eb8
        i 0900010101070801
        """),
    SampleConversation(
      "jw_iio3_rio3_b1_iat2_rat2_ik7_rk7", isSecureConnections: true, role: .peripheral, central: ("69:8C:42:F7:8E:D0", false),
      peripheral: ("5A:5B:55:83:6E:1A", false),
      digits: nil, isAuthenticated: false, privateKey: "c504c5f928957817d5971d01bb2ccf775c7052c65e332ee77958c8f1c22db061",
      key: "4bb61dd2baa494e578deee477a95911c",
      pdus: """
        i 0103000d100707
        r 0203000d100707
        i 0c54d98febc1bbe6748a553a800eef90c9ab79128897d91c620d26437d258679c707339140de25b43d812fd24198e7af0f5f17851f756ef40e05197f039bf44123
        r 0c1d44660d3a037117b3102ef0d3f8a26c1ffcbf02626b115a765b3020b1efb376f1236375fcb6c932a436be18a07d0b166524d0e3741b341af9e2cb309388d7fa
        r 031e0787b2543a446b9745a7a236f41042
        i 0499c4df4a2f14d811d39353ac64c867e6
        r 04c5b0f52a657705b8f75bad4ea99e7998
        i 0dbb449b1bcdfcdfffbb34b73b3e30a16e
        r 0d588fbea25fe30abc170f3b2327a5fb25
        key
        r 0800112233445566778899aabbccddeeff
        r 09000c0b0a090807
        i 08000102030405060708090a0b0c0d0e0f
        i 0900060504030201
        """),
    SampleConversation(
      "nc_iio1_rio1_b1_iat2_rat2_ik3_rk3", isSecureConnections: true, role: .peripheral, central: ("4A:CD:83:5D:F3:C5", false),
      peripheral: ("65:12:5E:57:56:9F", false),
      digits: 70210, isAuthenticated: true, privateKey: "c504c5f928957817d5971d01bb2ccf775c7052c65e332ee77958c8f1c22db061",
      key: "9546e68e52cc05caf45957548c0d51fc",
      pdus: """
        i 0101000d100303
        r 0201000d100303
        i 0c54d98febc1bbe6748a553a800eef90c9ab79128897d91c620d26437d258679c707339140de25b43d812fd24198e7af0f5f17851f756ef40e05197f039bf44123
        r 0c1d44660d3a037117b3102ef0d3f8a26c1ffcbf02626b115a765b3020b1efb376f1236375fcb6c932a436be18a07d0b166524d0e3741b341af9e2cb309388d7fa
        r 0339ba8647068714e45c82e96a80ca87cd
        i 04cee2a3298ac6761da2fde07f8cbef81d
        r 043dacf0fe7c787303e2b6597e80b46907
        i 0daa959f3332a1bdf9efb93dfb08d128a0
        r 0d3c10177655656f14fa80d3520482e2f7
        key
        r 08d46694c996d028961ca13bf715959543
        r 09000c0b0a090807
        i 08b798ac85c40a698da6aff31f633cf233
        i 0900060504030201
        """),
    SampleConversation(
      "pk_iio2_rio0_b1_iat2_rat2_ik7_rk3", isSecureConnections: true, role: .peripheral, central: ("76:1E:EF:09:56:6E", false),
      peripheral: ("62:9B:B4:DF:29:B5", false),
      digits: 4915, isAuthenticated: true, privateKey: "c504c5f928957817d5971d01bb2ccf775c7052c65e332ee77958c8f1c22db061",
      key: "5a4928f0113b6f6b3a696dddb2e5a897",
      pdus: """
        i 0102000d100703
        r 0200000d100703
        i 0c54d98febc1bbe6748a553a800eef90c9ab79128897d91c620d26437d258679c707339140de25b43d812fd24198e7af0f5f17851f756ef40e05197f039bf44123
        r 0c1d44660d3a037117b3102ef0d3f8a26c1ffcbf02626b115a765b3020b1efb376f1236375fcb6c932a436be18a07d0b166524d0e3741b341af9e2cb309388d7fa
        i 0312e301d03059cad9780b4573b17a4dca
        r 0347681624d407606ca5476f0578713ea8
        i 042a29a8ef0b705f1b814d97fffb7f3090
        r 04129e1d1211443674a30cea364ddf2d5d
        i 034d6a32fee2a0dd92605c827fa6a624d6
        r 03d53ea7a0bf398efefd73474c928b7406
        i 04c188dfb099bbbfeddc406655be91569a
        r 04eded9a61b8210377a6cf34658c18829f
        i 03dbea9429e4447d7bd316818eafe69c85
        r 033fdd5476ab457f53646b37a6c7c64a73
        i 045af1fbdeb3be6eac6851478e0bcdc1a0
        r 04290f5e8387cad321a77e3d784754f8e4
        i 03ca3ed5e359b05d1e0f4c950f6a72cf25
        r 032f4d06400968684587797848dae4f5ae
        i 04635aee91e4f8e869d146180dd294d820
        r 047636f5c241b63c1f361958ce8f41eb8c
        i 0376fd840f0f58704541335dcee5e22f83
        r 0387cfdfa560824f094c5024ba91960d65
        i 0467db731e575cb786f8af58d80f9747ce
        r 04aa99900511fcc2d9b8d69def8610cf26
        i 03fc22d91f5f8625e75e554835ec32376d
        r 0398bc0772a2e7a76664f7293aaf521804
        i 04d336b9696a6d55bc82df1c04a7d50068
        r 04b903bfd9865a1ab4dce68f9ba4a82a12
        i 03fe14ab1cfd366438c1f8ddcdf477a1b8
        r 032e7054dca6aeb2cd4a2697f8bfb4b452
        i 041e27739444fcd444bf5b7d5d6d1368b1
        r 04ebfd0ba17bda61dc6de43b51a709296d
        i 03382b23b9182db90be74d2083ab17fd88
        r 03656085ef0e9a2396e7a9eeba9e48b91c
        i 048ba87a33151ea77827013e9043475a9d
        r 0476f1216794206fc784c8db07db77dd50
        i 034e7f838ea628aa46a269953bf0711424
        r 03930b4dbe4936a026e9184ec81959c17d
        i 0411a9ce260e2f110ec1bd6880c8f84165
        r 04b63d6b62b537312879c4e262bb63f991
        i 035f55b5a480a85447a77987122e449242
        r 030169a2acd6628a64a20bd0b40e68e088
        i 04751e56d0cb06fd5155ae77a4f2e7863c
        r 04ffab8a7db740e507fe8f74db2c353512
        i 031f2aedcd6b87eaa2f8d8ad0423c75d47
        r 035b182d963bf6dc823bfac981c733a007
        i 04d13a82ce3175a2bf6f12f2acf6ccea34
        r 04cf113d44100d2632a56113fdb8ed3153
        i 0367148af6c8b8736bb2eca961aac0c928
        r 03a5bf000748ff30362083d7d6d0904603
        i 0475999aa3ad9ae59d2f21db722fafb879
        r 04a3b7b7463999c282e9318dc2281b8691
        i 03462fc80e2c703adb252fcee6151f9a06
        r 039aa4e0033ab543758e933525e65e9d7f
        i 041f0132566445c520d4ad138fbe82c801
        r 04d43fa4c9e92e62774e2155d8de31f5ea
        i 034e48884e4f747eec995db1cb848880e9
        r 031a84fa2fd73c5fee3e81c04b354b7e98
        i 04e33ac52f9f9193fbcbd85363abc4a585
        r 04a0cfad302decea81fd7fcf7c70c9897b
        i 03e16422194144372b9260a41fd653e0a0
        r 0308faa4f80408b89f61b568af31128d3f
        i 04ad76c31a4c642c115e486d41f577c240
        r 041bec782bd9be93bd0b03f1d831e86067
        i 035e22440997f9c5c723c77451e59d5ced
        r 03feb290a706afdd6a83263c7866e09dd9
        i 04b2a0756f77c10b4e99fa9a02f6e46627
        r 04f9dd69aec866a9abb80138c32a6b9466
        i 0317c9f72de6b7997765f762c80d7dbd81
        r 0339efbf39fa79c37b71403c1f67e560e5
        i 0432ab8bed90045e17d25ea891f777e3d7
        r 046cc71413dffbc6eda39ca790ae4c6147
        i 03c517073534bfc14dc457c0d9fde91008
        r 03bbcf41d294eabe2fdeb2b420721cf835
        i 045920b5dcafc38b32e6400f026745491f
        r 04f595604c5f3954bf629e85ca319a95ee
        i 033650786b0f11e3a9793aa69dd48b133f
        r 03a5345d5e4301f2e13ff21c8b13f7173e
        i 0477a1bebf49b8747347782af8666bffd2
        r 04a20569653fd4b4cded8c366d516abbef
        i 03dad896fd1c0d1e56e262ed184bd34648
        r 03eb795e527025a74133faacd32735fc5f
        i 04a89cb9cd13b8ddd209d6c812c3699a64
        r 0406e38aefe442ae86ef5880e8e3a20944
        i 0d6fa537064a899839f6694856176d447c
        r 0d8248d49eb83cb4dc44cb19dbcba2005d
        key
        r 0879128897d91c620d26437d258679c707
        r 09000c0b0a090807
        i 08da6b27a0ac71f0c37551f62194ec8192
        i 0900060504030201
        """),
    SampleConversation(
      "jw_iio3_rio3_b1_iat2_rat2_ik3_rk3", isSecureConnections: true, role: .central, central: ("58:86:90:37:85:46", false),
      peripheral: ("74:87:A9:7D:59:6D", false),
      digits: nil, isAuthenticated: false, privateKey: "db242e91daaa333323a21ebe0669dbada92a91b1240ac7af500c655b971e1210",
      key: "8bb6f65a527bb8f4b84ce7604f0b88fe",
      pdus: """
        i 01030009100303
        r 02030009100303
        i 0c54d98febc1bbe6748a553a800eef90c9ab79128897d91c620d26437d258679c707339140de25b43d812fd24198e7af0f5f17851f756ef40e05197f039bf44123
        r 0c1d44660d3a037117b3102ef0d3f8a26c1ffcbf02626b115a765b3020b1efb376f1236375fcb6c932a436be18a07d0b166524d0e3741b341af9e2cb309388d7fa
        r 03325bee464263ca862de7d275237b4d59
        i 04d46694c996d028961ca13bf715959543
        r 04b798ac85c40a698da6aff31f633cf233
        i 0d1ac70bfec055c3db9400894f0e6405cd
        r 0df24541c0ba8d58ec61fb4871b40e7b19
        key
        r 0800112233445566778899aabbccddeeff
        r 09000c0b0a090807
        i 08000102030405060708090a0b0c0d0e0f
        i 0900060504030201
        """),
    SampleConversation(
      "nc_iio1_rio1_b1_iat2_rat2_ik3_rk3", isSecureConnections: true, role: .central, central: ("4A:CD:83:5D:F3:C5", false),
      peripheral: ("65:12:5E:57:56:9F", false),
      digits: 70210, isAuthenticated: true, privateKey: "db242e91daaa333323a21ebe0669dbada92a91b1240ac7af500c655b971e1210",
      key: "9546e68e52cc05caf45957548c0d51fc",
      pdus: """
        i 0101000d100303
        r 0201000d100303
        i 0c54d98febc1bbe6748a553a800eef90c9ab79128897d91c620d26437d258679c707339140de25b43d812fd24198e7af0f5f17851f756ef40e05197f039bf44123
        r 0c1d44660d3a037117b3102ef0d3f8a26c1ffcbf02626b115a765b3020b1efb376f1236375fcb6c932a436be18a07d0b166524d0e3741b341af9e2cb309388d7fa
        r 0339ba8647068714e45c82e96a80ca87cd
        i 04cee2a3298ac6761da2fde07f8cbef81d
        r 043dacf0fe7c787303e2b6597e80b46907
        i 0daa959f3332a1bdf9efb93dfb08d128a0
        r 0d3c10177655656f14fa80d3520482e2f7
        key
        r 08d46694c996d028961ca13bf715959543
        r 09000c0b0a090807
        i 08b798ac85c40a698da6aff31f633cf233
        i 0900060504030201
        """),
    SampleConversation(
      "pk_iio2_rio0_b1_iat2_rat2_ik7_rk3", isSecureConnections: true, role: .central, central: ("76:1E:EF:09:56:6E", false),
      peripheral: ("62:9B:B4:DF:29:B5", false),
      digits: 4915, isAuthenticated: true, privateKey: "db242e91daaa333323a21ebe0669dbada92a91b1240ac7af500c655b971e1210",
      key: "5a4928f0113b6f6b3a696dddb2e5a897",
      pdus: """
        i 0102000d100703
        r 0200000d100703
        i 0c54d98febc1bbe6748a553a800eef90c9ab79128897d91c620d26437d258679c707339140de25b43d812fd24198e7af0f5f17851f756ef40e05197f039bf44123
        r 0c1d44660d3a037117b3102ef0d3f8a26c1ffcbf02626b115a765b3020b1efb376f1236375fcb6c932a436be18a07d0b166524d0e3741b341af9e2cb309388d7fa
        i 0312e301d03059cad9780b4573b17a4dca
        r 0347681624d407606ca5476f0578713ea8
        i 042a29a8ef0b705f1b814d97fffb7f3090
        r 04129e1d1211443674a30cea364ddf2d5d
        i 034d6a32fee2a0dd92605c827fa6a624d6
        r 03d53ea7a0bf398efefd73474c928b7406
        i 04c188dfb099bbbfeddc406655be91569a
        r 04eded9a61b8210377a6cf34658c18829f
        i 03dbea9429e4447d7bd316818eafe69c85
        r 033fdd5476ab457f53646b37a6c7c64a73
        i 045af1fbdeb3be6eac6851478e0bcdc1a0
        r 04290f5e8387cad321a77e3d784754f8e4
        i 03ca3ed5e359b05d1e0f4c950f6a72cf25
        r 032f4d06400968684587797848dae4f5ae
        i 04635aee91e4f8e869d146180dd294d820
        r 047636f5c241b63c1f361958ce8f41eb8c
        i 0376fd840f0f58704541335dcee5e22f83
        r 0387cfdfa560824f094c5024ba91960d65
        i 0467db731e575cb786f8af58d80f9747ce
        r 04aa99900511fcc2d9b8d69def8610cf26
        i 03fc22d91f5f8625e75e554835ec32376d
        r 0398bc0772a2e7a76664f7293aaf521804
        i 04d336b9696a6d55bc82df1c04a7d50068
        r 04b903bfd9865a1ab4dce68f9ba4a82a12
        i 03fe14ab1cfd366438c1f8ddcdf477a1b8
        r 032e7054dca6aeb2cd4a2697f8bfb4b452
        i 041e27739444fcd444bf5b7d5d6d1368b1
        r 04ebfd0ba17bda61dc6de43b51a709296d
        i 03382b23b9182db90be74d2083ab17fd88
        r 03656085ef0e9a2396e7a9eeba9e48b91c
        i 048ba87a33151ea77827013e9043475a9d
        r 0476f1216794206fc784c8db07db77dd50
        i 034e7f838ea628aa46a269953bf0711424
        r 03930b4dbe4936a026e9184ec81959c17d
        i 0411a9ce260e2f110ec1bd6880c8f84165
        r 04b63d6b62b537312879c4e262bb63f991
        i 035f55b5a480a85447a77987122e449242
        r 030169a2acd6628a64a20bd0b40e68e088
        i 04751e56d0cb06fd5155ae77a4f2e7863c
        r 04ffab8a7db740e507fe8f74db2c353512
        i 031f2aedcd6b87eaa2f8d8ad0423c75d47
        r 035b182d963bf6dc823bfac981c733a007
        i 04d13a82ce3175a2bf6f12f2acf6ccea34
        r 04cf113d44100d2632a56113fdb8ed3153
        i 0367148af6c8b8736bb2eca961aac0c928
        r 03a5bf000748ff30362083d7d6d0904603
        i 0475999aa3ad9ae59d2f21db722fafb879
        r 04a3b7b7463999c282e9318dc2281b8691
        i 03462fc80e2c703adb252fcee6151f9a06
        r 039aa4e0033ab543758e933525e65e9d7f
        i 041f0132566445c520d4ad138fbe82c801
        r 04d43fa4c9e92e62774e2155d8de31f5ea
        i 034e48884e4f747eec995db1cb848880e9
        r 031a84fa2fd73c5fee3e81c04b354b7e98
        i 04e33ac52f9f9193fbcbd85363abc4a585
        r 04a0cfad302decea81fd7fcf7c70c9897b
        i 03e16422194144372b9260a41fd653e0a0
        r 0308faa4f80408b89f61b568af31128d3f
        i 04ad76c31a4c642c115e486d41f577c240
        r 041bec782bd9be93bd0b03f1d831e86067
        i 035e22440997f9c5c723c77451e59d5ced
        r 03feb290a706afdd6a83263c7866e09dd9
        i 04b2a0756f77c10b4e99fa9a02f6e46627
        r 04f9dd69aec866a9abb80138c32a6b9466
        i 0317c9f72de6b7997765f762c80d7dbd81
        r 0339efbf39fa79c37b71403c1f67e560e5
        i 0432ab8bed90045e17d25ea891f777e3d7
        r 046cc71413dffbc6eda39ca790ae4c6147
        i 03c517073534bfc14dc457c0d9fde91008
        r 03bbcf41d294eabe2fdeb2b420721cf835
        i 045920b5dcafc38b32e6400f026745491f
        r 04f595604c5f3954bf629e85ca319a95ee
        i 033650786b0f11e3a9793aa69dd48b133f
        r 03a5345d5e4301f2e13ff21c8b13f7173e
        i 0477a1bebf49b8747347782af8666bffd2
        r 04a20569653fd4b4cded8c366d516abbef
        i 03dad896fd1c0d1e56e262ed184bd34648
        r 03eb795e527025a74133faacd32735fc5f
        i 04a89cb9cd13b8ddd209d6c812c3699a64
        r 0406e38aefe442ae86ef5880e8e3a20944
        i 0d6fa537064a899839f6694856176d447c
        r 0d8248d49eb83cb4dc44cb19dbcba2005d
        key
        r 0879128897d91c620d26437d258679c707
        r 09000c0b0a090807
        i 08da6b27a0ac71f0c37551f62194ec8192
        i 0900060504030201
        """),
    SampleConversation(
      "jw_iio4_rio3_b1_iat0_rat0_ik7_rk7", isSecureConnections: false, role: .peripheral, central: ("6C:B7:F4:DA:FC:E1", false),
      peripheral: ("0A:45:00:11:22:33", false),
      digits: nil, isAuthenticated: false, privateKey: "", key: "1cd7b63548fc9fef0e2f5177edddbcaf",
      pdus: """
        i 01040005100707
        r 02030009100707
        i 03cd5b7929533156232c08ed8116558e01
        r 034939220f7b1b80cdbe89d14cbd6fda2c
        i 047f42c02f1d0737fc045b059aed67a568
        r 04421a58a23b80deef950df7ca0605013c
        key
        """),
    SampleConversation(
      "pk_iio4_rio0_b1_iat0_rat0_ik7_rk7", isSecureConnections: false, role: .peripheral, central: ("6C:B7:F4:DA:FC:E1", false),
      peripheral: ("0A:45:00:11:22:33", false),
      digits: 46128, isAuthenticated: true, privateKey: "", key: "f23c36c4a1fb5aa79620e429b758227a",
      pdus: """
        i 01040005100707
        r 02000009100707
        i 03a0104aaa8b5378bbd2ae711f4e00708b
        r 0362f3ba0ee5be2ed825b2ec4c28772860
        i 0484cfe4047df3fca13f75d65a7cb7a439
        r 04ef6a616e02607f5d7f0da63c061a5dd6
        key
        """),
    SampleConversation(
      "jw_iio3_rio3_b1_iat0_rat1_ik7_rk5", isSecureConnections: false, role: .central, central: ("0A:0B:0C:0D:0E:0F", false),
      peripheral: ("CC:11:22:11:22:11", true),
      digits: nil, isAuthenticated: false, privateKey: "", key: "3154426c1c0336440b7290a51f795be9",
      pdus: """
        i 01030001100707
        r 02030001100705
        i 031cb610ea02089064c7f8e59cb43a18ca
        r 03b86fd1c67435a394682ff14c7844e80d
        i 044048174d42a0f8d5bf6567b85e5738ac
        r 042ca1b1f5549b43e9b0626ab002b86cca
        key
        """),
    SampleConversation(
      "pk_iio4_rio2_b1_iat0_rat1_ik7_rk5", isSecureConnections: false, role: .central, central: ("0A:0B:0C:0D:0E:0F", false),
      peripheral: ("CC:11:22:11:22:11", true),
      digits: 46128, isAuthenticated: true, privateKey: "", key: "9ee83522b6bb540d481b25a0d8e2a508",
      pdus: """
        i 0104000d100707
        r 02020005100705
        i 03b5d4c5e8efefd8d72b1434352918da12
        r 031a0320da60219b4b5d459064e1242cb6
        i 0445a31a0bf60f7ccf1afbfc1aad620e76
        r 0482bb9f67c488cb58eef9343523a3d022
        key
        """),
    SampleConversation(
      "pk_iio4_rio4_b1_iat0_rat0_ik7_rk7", isSecureConnections: false, role: .peripheral, central: ("6C:B7:F4:DA:FC:E1", false),
      peripheral: ("0A:45:00:11:22:33", false),
      digits: 449182, isAuthenticated: true, privateKey: "", key: "6c3e7847e8579fe93a8f0abbd460f60d",
      pdus: """
        i 01040005100707
        r 0204000d100707
        i 039364b1b0074122e73e5a87f51f257911
        r 032d4015c421ebd573c85db8b94531d558
        i 048c2c3bf390aa2ecfc75bf6aeb64cc361
        r 047a94970abeafc06bd4f404d1214634f3
        key
        """),
  ]
}
